// Package storm tests the shipped window with real events: what is typed and clicked
// while a sheet opens approves nothing. It is tests only; nothing imports it.
package storm
