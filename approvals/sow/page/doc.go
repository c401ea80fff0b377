// Package page makes the page on which an owner reads an Agent SoW document,
// and the comparison of two versions of one. It is a pure function of the
// document and of what the vault knows beside it; the window, the terminal and
// the exports draw the same [Page].
//
// Every signed leaf is on the page: what no clause of this package knows is
// shown as it stands, under its own name. Text from the document is marked as
// such in every [Span] and drawn by whoever draws text from outside. Amounts,
// dates and durations are written so that different values never look alike.
//
// The sentences of a contract are its contract language, and this package has
// words for one language only, its own (4.3). A document under any other is
// shown field by field: names, values and grades. What the vault remarks beside
// it is marked as a remark and is never part of the contract.
//
// It decides nothing, reads no file and holds no clock.
package page
