package envelope

import "strings"

// Covers says whether a list of allowed resources, as a delegate has it, allows a
// concrete one: it is listed; or it lies under X:*, where X is what stands before
// its first colon; or the list has *. A request for a wildcard itself is never
// allowed, and is refused when the request is parsed. AgentEnvelope section 12.
func Covers(allowed []string, resource string) bool {
	if resource == "*" || strings.HasSuffix(resource, ":*") {
		return false
	}
	return resourceAllowed(set(allowed), resource)
}

// DeadWildcard says whether an allowed resource is a wildcard after a second colon, which
// no resource ever matches.
func DeadWildcard(allowed string) bool {
	prefix, wild := strings.CutSuffix(allowed, ":*")
	return wild && strings.Contains(prefix, ":")
}
