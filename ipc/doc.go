// Package ipc serves the desk to agents over the socket: JSON-RPC 2.0, one JSON value
// a line, written down in docs/protocol.md.
//
// It admits connections by what the kernel says about their other end, checks each
// line before anything else sees it, cuts documents from the received bytes without
// touching them, bounds everything a client can make it hold, and turns answers and
// refusals of [approvals.Agents] into JSON-RPC. It decides nothing, keeps nothing, and
// has no way to reach the owner's side of the desk.
package ipc
