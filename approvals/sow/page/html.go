package page

import (
	"fmt"
	"html"
	"strings"

	"vault/approvals/plain"
	"vault/approvals/sow/units"
)

// style is the whole look of an exported page; it fetches nothing.
const style = `:root{color-scheme:light dark;--ink:#15201d;--ink2:#44504b;--ink3:#5f6a65;--paper:#fcfcfa;--line:#cfd4cf;--well:#f0f2ee;--enforced:#11694a;--evidence:#2a5699;--recorded:#675f53;--warn:#8a4b00;--warn-t:#faeed9;--danger:#a2261e;--danger-t:#f8e4e1}
@media (prefers-color-scheme:dark){:root{--ink:#e9eeeb;--ink2:#b7c1bc;--ink3:#95a09b;--paper:#1a201e;--line:#2f3735;--well:#232a28;--enforced:#6fcf9f;--evidence:#8fb8f3;--recorded:#c6bcab;--warn:#efb65a;--warn-t:#33291a;--danger:#f39b91;--danger-t:#36211e}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:14px/20px Inter,system-ui,sans-serif}
main{padding:24px 0 40px}.foot{padding:6px 0 16px;border-top:1px solid var(--line);overflow-wrap:anywhere}h1{font-size:20px;line-height:26px;margin:0 0 4px}h2{font-size:13px;line-height:20px;margin:0}
.o{white-space:pre-wrap;overflow-wrap:anywhere;unicode-bidi:isolate;text-decoration:underline dotted var(--ink3);text-underline-offset:3px}.k{font:13px/20px ui-monospace,monospace}
.q{color:var(--ink2)}.c{color:var(--ink3);font-size:12px;line-height:16px}
.parties{display:grid;grid-template-columns:1fr 1fr;gap:12px;margin:18px 0}.box{border:1px solid var(--line);border-radius:6px;padding:12px 16px;overflow-wrap:anywhere}
.bar{display:flex;gap:3px;margin:0 0 8px}.bar i{flex:1;height:14px;border:1px solid;border-radius:2px}
.bar i.enforced{background:var(--enforced)}.bar i.evidence{border-color:var(--evidence);background:linear-gradient(transparent 50%,var(--evidence) 50%)}.bar i.recorded{border-color:var(--recorded)}
.keys{display:flex;gap:28px;flex-wrap:wrap;font-size:13px}.figs{display:grid;grid-template-columns:1fr 1fr 1fr;margin:20px 0}.figs>div{padding:0 20px;border-left:1px solid var(--line)}.figs>div:first-child{border:0;padding-left:0}
.figs b{display:block;font-size:26px;line-height:34px;font-weight:600}
.g{white-space:nowrap;font-size:13px}.enforced{color:var(--enforced)}.evidence{color:var(--evidence)}.recorded{color:var(--recorded)}
.n{border-radius:6px;padding:9px 14px;margin:8px 0;background:var(--well)}.n.w{background:var(--warn-t)}.n.a{background:var(--danger-t)}.n.w b{color:var(--warn)}.n.a b{color:var(--danger)}
section{display:grid;grid-template-columns:150px 1fr 110px;gap:0 12px;padding:14px 0;border-top:1px solid var(--line);break-inside:avoid-page}
section>.g{text-align:right}.r{display:grid;grid-template-columns:200px 1fr auto;gap:0 12px;padding:2px 0}.r.one{grid-template-columns:1fr auto}.r .num{font-variant-numeric:tabular-nums}
.warn{color:var(--warn)}.none{color:var(--ink3)}.says{grid-column:2/4}
table{border-collapse:collapse;width:100%}.cmp td,.cmp th{text-align:left;vertical-align:top;padding:8px 8px 8px 0;border-top:1px solid var(--line);overflow-wrap:anywhere}.cmp th{font-weight:500;color:var(--ink3);font-size:12px}
.whole{max-width:900px;margin:0 auto}.whole>*>tr>td{padding:0 28px}
footer{border-top:1px solid var(--line);margin-top:24px;padding-top:8px}
@page{margin:14mm}@media print{:root{color-scheme:light}body{font-size:11px;line-height:16px;background:none}main{padding:0}.whole>*>tr>td{padding:0}.figs b{font-size:20px;line-height:26px}section{grid-template-columns:110px 1fr 100px;break-inside:auto}.g{font-size:11px}.c{font-size:10px}.r{grid-template-columns:150px 1fr auto;break-inside:avoid}.bar i,.n{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
@media (max-width:640px){section,.r,.parties,.figs{grid-template-columns:1fr}.figs>div{border:0;padding:6px 0}}`

// htm writes HTML: text goes through esc alone, and nothing outside becomes
// markup, an attribute or an address.
type htm struct{ b strings.Builder }

func (h *htm) put(s string) { h.b.WriteString(s) }

// esc is a text node.
func esc(s string) string { return html.EscapeString(s) }

// spans are text nodes, those from outside in an element of their own that
// keeps their direction to themselves.
func spans(list []Span) string {
	var b strings.Builder
	for _, s := range list {
		switch {
		case !s.Outside:
			b.WriteString(strings.ReplaceAll(esc(s.Text), "\n", "<br>"))
		case s.Code:
			b.WriteString(`<bdi class="o k">` + plain.HTML(s.Text) + `</bdi>`)
		default:
			b.WriteString(`<bdi class="o">` + plain.HTML(s.Text) + `</bdi>`)
		}
	}
	return b.String()
}

func gradeHTML(g *Grade) string {
	if g == nil {
		return ""
	}
	if !g.Known {
		return `<span class="warn">` + spans(code(g.Stated)) + ` is no grade</span>`
	}
	class := g.Shown()
	out := fmt.Sprintf(`<span class="%s">%s %s</span>`, class, Shape(class), Word(class))
	if g.Implied {
		out += `<br><span class="c">not stated</span>`
	}
	if g.Differs() {
		out += fmt.Sprintf(`<br><span class="c warn">earned: %s</span>`, Word(g.Earned))
	}
	return out
}

// begin writes the head of a file. The title is of ours alone; identifier,
// version and digest stand at the foot.
func (h *htm) begin(title string, id []Span, version int64, digest string) {
	h.put("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n")
	h.put(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">` + "\n")
	h.put(`<meta name="viewport" content="width=device-width"><title>` + esc(title) + "</title>\n<style>" + style + "</style></head>\n<body><table class=\"whole\">\n")
	// The foot of a table stands on every page that is printed.
	h.put(fmt.Sprintf("<tfoot><tr><td><div class=\"foot c\">%s, version %s · sha256 %s</div></td></tr></tfoot>\n<tbody><tr><td><main>\n", spans(id), units.Number(version), esc(digest)))
}

// fromOutside says how the words of the document are told from the vault's.
const fromOutside = "What is underlined with dots is the document’s own text; everything else is said by the vault."

// end writes the last lines.
func (h *htm) end() string {
	h.put(`<footer class="c">` + esc(fromOutside+" "+LegalStatus()) + "</footer>\n</main></td></tr></tbody></table></body></html>\n")
	return h.b.String()
}

// HTML is the page as one file that fetches nothing and runs nothing. Identifier,
// version and digest stand on every page that is printed.
func (p *Page) HTML() string {
	h := &htm{}
	h.begin("Agent SoW document, version "+units.Number(p.Version), p.ID, p.Version, p.Digest)
	h.put("<h1>" + esc(p.Title) + "</h1>\n")
	h.put(`<div class="q">` + esc(strings.Join(p.Status, " ")) + "</div>\n")
	h.put(fmt.Sprintf("<div class=\"c\">%s, version %s<br>sha256 of the signed bytes <span class=\"k\">%s</span></div>\n", spans(p.ID), units.Number(p.Version), esc(p.Digest)))
	h.put(`<div class="parties">`)
	for _, part := range p.Parties {
		h.put(`<div class="box"><div class="c">` + esc(part.Heading()) + "</div>")
		if part.Blank {
			h.put("<b>The seat is open</b>")
		} else {
			h.put("<b>" + spans(part.Owner) + "</b>")
		}
		if part.Ours {
			h.put(" <span class=\"c\">" + esc(part.Seat) + "</span>")
		}
		for _, s := range [][]Span{part.Handle, part.Org, part.Agent} {
			if len(s) > 0 {
				h.put(`<div class="q">` + spans(s) + "</div>")
			}
		}
		if part.Key != "" {
			h.put(`<div class="k">` + esc(part.Key) + "</div>")
		}
		class := "c"
		if part.Warn {
			class = "c warn"
		}
		h.put(`<div class="` + class + `">` + esc(part.Known) + "</div>")
		if part.Person != "" {
			h.put(`<div class="c">` + esc(part.Person) + "</div>")
		}
		h.put("</div>")
	}
	h.put("</div>\n<div class=\"bar\">")
	for _, x := range p.Bar.Holdings() {
		h.put(strings.Repeat(`<i class="`+x.Grade+`"></i>`, x.Clauses))
	}
	h.put(`</div><div class="keys">`)
	for _, x := range p.Bar.Holdings() {
		h.put(fmt.Sprintf(`<div><span class="%s">%s %d %s</span> <span class="c">%s</span></div>`, x.Grade, Shape(x.Grade), x.Clauses, x.Grade, x.Means))
	}
	h.put("</div>\n")
	if p.Bar.Differs {
		h.put(fmt.Sprintf(`<div class="c">Earned by the deployment: %d enforced, %d evidence, %d recorded</div>`, p.Bar.EarnedEnforced, p.Bar.EarnedEvidence, p.Bar.EarnedRecorded))
	}
	h.put(`<div class="figs">`)
	for _, f := range p.Figures {
		class := "q"
		if f.Warn {
			class = "warn"
		}
		h.put(`<div><div class="c">` + esc(f.Caption) + "</div><b>" + spans(f.Value) + `</b><div class="` + class + `">` + spans(f.More) + "</div></div>")
	}
	h.put("</div>\n")
	for _, n := range p.Notices {
		h.put(`<div class="n ` + [...]string{"", "w", "a"}[n.Tone] + `"><b>` + spans(n.What) + `</b><div class="c">` + spans(n.More) + "</div></div>\n")
	}
	for _, c := range p.Clauses {
		h.put("<section><h2>" + esc(c.Title) + "</h2><div>")
		for _, r := range c.Rows {
			h.row(r)
		}
		h.put(`</div><div class="g">` + gradeHTML(c.Grade) + "</div></section>\n")
	}
	if len(p.Records) > 0 {
		h.put("<section><h2>Signature records</h2><div><div class=\"c\">Claims beside the document: the signature covers neither role nor time.</div>")
		for _, r := range p.Records {
			h.put(`<div class="r"><div>` + spans(r.Role) + "</div><div>" + spans(r.Key) + "<br>" + spans(r.SignedAt) + `<div class="c">` + esc(r.Words) + "</div></div><div></div></div>")
		}
		h.put("</div><div></div></section>\n")
	}
	if p.Language.Text != "" {
		h.put(`<section><h2>Contract language</h2><div class="o">` + plain.HTML(p.Language.Text) + "</div><div></div></section>\n")
	}
	return h.end()
}

func (h *htm) row(r Row) {
	ink := ""
	switch {
	case r.Warn:
		ink = "warn"
	case r.Kind == Remark:
		ink = "q"
	case r.Kind == Nothing:
		ink = "none"
	}
	if len(r.Name) == 0 {
		h.put(`<div class="r one"><div class="` + ink + `">` + spans(r.Value) + `</div><div class="g">` + gradeHTML(r.Grade) + "</div></div>")
		return
	}
	h.put(`<div class="r"><div>` + spans(r.Name) + "</div>")
	more := ` <span class="q">` + spans(r.More) + "</span>"
	if r.Warn {
		more = ` <span class="warn">` + spans(r.More) + "</span>"
	}
	value := spans(r.Value)
	switch r.Kind {
	case Amount:
		value = `<span class="num">` + value + "</span>"
	case Access:
		value += ","
	case Nothing:
		value = `<span class="none">` + value + "</span>"
	default:
		if len(r.More) > 0 {
			more = "<br>" + more
		}
	}
	if len(r.More) == 0 {
		more = ""
	}
	h.put("<div>" + value + more + `</div><div class="g">` + gradeHTML(r.Grade) + "</div>")
	if len(r.Says) > 0 {
		h.put(`<div class="says">` + spans(r.Says) + "</div>")
	}
	h.put("</div>")
}

// HTML is the comparison as one file, as [Page.HTML] is.
func (c *Comparison) HTML() string {
	h := &htm{}
	h.begin(fmt.Sprintf("Agent SoW comparison, version %s and %s", units.Number(c.InForce), units.Number(c.Proposed)), c.ID, c.Proposed, c.Digest)
	h.put("<h1>" + esc(c.Head()) + "</h1>\n")
	h.put(fmt.Sprintf(`<div class="c">%s<br>version %s, sha256 %s<br>version %s, sha256 %s</div>`, spans(c.ID), units.Number(c.InForce), esc(c.InForceDigest), units.Number(c.Proposed), esc(c.Digest)))
	for _, g := range c.Groups {
		h.put(fmt.Sprintf("<table class=\"cmp\"><tr><th></th><th>%s</th><th>Version %s, in force</th><th>Version %s, proposed</th><th>For you</th><th>Grade</th></tr>\n", esc(g.Title), units.Number(c.InForce), units.Number(c.Proposed)))
		for _, d := range g.Lines {
			class := "q"
			if d.Warn {
				class = "warn"
			}
			h.put(fmt.Sprintf("<tr><td class=\"q\">%s</td><td>%s</td><td class=\"q\">%s</td><td><b>%s</b></td><td class=\"%s\">%s</td><td class=\"g\">%s</td></tr>\n",
				d.Sign.Word(), spans(d.Name), spans(d.Old), spans(d.New), class, esc(d.Effect), gradeHTML(d.Grade)))
		}
		h.put("</table>\n")
	}
	for _, s := range c.Consequences {
		h.put(`<div class="n">` + esc(s) + "</div>\n")
	}
	return h.end()
}
