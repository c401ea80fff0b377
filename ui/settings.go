package ui

import (
	"context"
	"fmt"
	"strings"

	"fyne.io/fyne/v2"

	"vault/approvals"
	"vault/approvals/keys"
	"vault/ui/hostile"
	"vault/ui/look"
	"vault/ui/parts"
)

// settingsPage shows what protects the vault and how the window behaves.
type settingsPage struct {
	asking   string // "protection", "words", "backup", "instance", "enrol", "other name", "remove P", "card", "floor", "rule R", "new rule", "class", "new socket", "socket U", "readmit H" or ""
	question *question
	rule     *ruleForm         // of "new rule"
	field    *parts.Field      // of "class", "new socket" and "readmit H"
	gate     gate              // of the buttons below a field
	drawn    fyne.CanvasObject // the form with the field, or with the rule, or nil
}

func (p *settingsPage) view(u *UI) fyne.CanvasObject {
	st, set := u.state.Status, u.state.Settings
	line := func(name, value, more string, act fyne.CanvasObject) fyne.CanvasObject {
		text := []fyne.CanvasObject{look.Text(look.Strong, look.Ink, value)}
		if more != "" {
			text = append(text, look.Text(look.Small, look.Ink2, more))
		}
		return parts.Pad(14, 0, 14, 0, parts.RowTop(16, parts.Size(160, 0, look.Text(look.Body, look.Ink2, name)), parts.Grow(parts.Column(0, text...)), act))
	}
	with := func(what string, o fyne.CanvasObject) fyne.CanvasObject {
		if p.asking != what || p.question == nil {
			return o
		}
		return parts.Column(0, o, p.question.view(u), parts.Space(0, 14))
	}
	ask := func(what, label string) fyne.CanvasObject {
		return u.button(parts.Plain, "", label, func() { p.ask(u, what) }).Small()
	}
	why := ""
	for _, x := range protections {
		if x.value == st.Public.Protection {
			why = x.why
		}
	}
	words, wordsMore, show := "Written down and asked back", "Showing them again needs a passkey, and none is enrolled.", fyne.CanvasObject(parts.Space(0, 0))
	if len(u.state.Passkeys) > 0 {
		wordsMore, show = "A passkey confirms that they are shown again.", ask("words", "Show the words…")
	}
	if st.WordsDue || !st.Public.WordsShown {
		words, wordsMore, show = "Not written down yet", "Without them a lost computer is a lost vault. Nobody else has a copy.", ask("words", "Show the words…")
	}
	security := []fyne.CanvasObject{
		with("protection", line("Protection", protectionName(st.Public.Protection), why, ask("protection", "Change…"))),
		with("words", line("Recovery words", words, wordsMore, show)),
	}
	security = append(security, p.passkeyRows(u, with)...)
	if u.opts.Export != nil {
		security = append(security, with("card", line("Owner card", "Your keys and passkeys, for others", "Whoever has it can check what you confirm, without this vault.", ask("card", "Export…"))))
	}
	if u.opts.BackupFile != nil {
		security = append(security, with("backup", line("Backup", "Log and settings in one sealed file", "It does not replace the recovery words. Restoring it begins a new instance.", ask("backup", "Back up…"))))
	}
	switch {
	case st.Trouble == nil:
	case st.Trouble.Code == "rolled_back", st.Trouble.Code == "copied", st.Trouble.Code == "restored", st.Trouble.Code == "anchor_missing":
		security = append(security, with("instance", line("Instance", "This one is stopped", "A new instance has the same addresses and a new log.", ask("instance", "Start a new one…"))))
	}
	choose := func(options []option, now string, save func(string)) fyne.CanvasObject {
		var pills []fyne.CanvasObject
		for _, o := range options {
			pills = append(pills, u.pill(o.name, o.value == now, func() { save(o.value) }))
		}
		return parts.Row(8, pills...)
	}
	change := func(f func(*approvals.Settings)) {
		next := u.state.Settings
		f(&next)
		u.opts.Go(func() {
			err := u.owner.SaveSettings(u.ctx, next)
			if err != nil {
				u.opts.Do(func() { u.banner = problem(err); u.rebuild() })
			}
			u.changed()
		})
	}
	number := func(into func(*approvals.Settings) *int) func(string) {
		return func(v string) {
			var n int
			if _, err := fmt.Sscan(v, &n); err == nil {
				change(func(s *approvals.Settings) { *into(s) = n })
			}
		}
	}
	pick := func(name string, o fyne.CanvasObject) fyne.CanvasObject {
		return parts.Pad(10, 0, 10, 0, parts.RowTop(16, parts.Size(160, 28, parts.Middle(28, look.Text(look.Body, look.Ink2, name))), o))
	}
	onOff := "off"
	if set.Notifications {
		onOff = "on"
	}
	theme := set.Theme
	if theme == "" {
		theme = "system"
	}
	window := []fyne.CanvasObject{
		pick("Theme", choose([]option{{"system", "As the system"}, {"light", "Light"}, {"dark", "Dark"}}, theme, func(v string) {
			change(func(s *approvals.Settings) { s.Theme = v })
		})),
		pick("Text size", choose([]option{{"100", "100 %"}, {"125", "125 %"}, {"150", "150 %"}, {"175", "175 %"}, {"200", "200 %"}}, fmt.Sprint(max(set.TextScale, 100)), number(func(s *approvals.Settings) *int { return &s.TextScale }))),
		pick("Lock after", choose([]option{{"5", "5 min"}, {"15", "15 min"}, {"30", "30 min"}, {"60", "1 hour"}, {"240", "4 hours"}}, fmt.Sprint(set.IdleMinutes), number(func(s *approvals.Settings) *int { return &s.IdleMinutes }))),
		pick("Notifications", choose([]option{{"on", "On"}, {"off", "Off"}}, onOff, func(v string) {
			change(func(s *approvals.Settings) { s.Notifications = v == "on" })
		})),
	}
	about := []fyne.CanvasObject{
		parts.Pair(160, "Vault", hostile.Inline(look.Mono, look.Ink, orUnknown(st.Public.Vault))),
		parts.Pair(160, "This instance", hostile.Inline(look.Mono, look.Ink, orUnknown(st.Public.Instance))),
		parts.Pair(160, "Owner key", hostile.Inline(look.Mono, look.Ink, orUnknown(st.Public.OwnerKey))),
		parts.Pair(160, "Log key", hostile.Inline(look.Mono, look.Ink, orUnknown(st.Public.LogKey))),
		parts.Pair(160, "Folder", hostile.Inline(look.Mono, look.Ink, orUnknown(st.Folder))),
		parts.Pair(160, "Socket", hostile.Inline(look.Mono, look.Ink, orUnknown(st.Socket))),
	}
	out := []fyne.CanvasObject{head("Settings", ""), parts.Space(0, 18)}
	if rows := p.suspendedRows(u); len(rows) > 0 {
		out = append(out, section("Suspended since this instance began"), parts.Space(0, 6), parts.Lined(rows...), parts.Space(0, 8),
			look.Text(look.Caption, look.Ink3, "The vault signs nothing under these until you admit them again: a copy of it may have used them elsewhere."), parts.Space(0, 24))
	}
	out = append(out,
		section("What protects the vault"), parts.Space(0, 6), parts.Lined(security...), parts.Space(0, 24),
		section("What needs a person"), parts.Space(0, 6), p.policyTable(u, with), parts.Space(0, 12), p.newRule(u), parts.Space(0, 8),
		look.Text(look.Caption, look.Ink3, "Asking a passkey counts at once. Leaving something to a click again is confirmed by a passkey. Declining needs neither."), parts.Space(0, 24),
		u.contractSettings(), parts.Space(0, 24),
		section("Who can ask"), parts.Space(0, 6), parts.Lined(p.socketRows(u, with)...), parts.Space(0, 24),
		section("This window"), parts.Space(0, 6), parts.Lined(window...), parts.Space(0, 8),
		look.Text(look.Caption, look.Ink3, "A notification says that a request is waiting, and nothing else."), parts.Space(0, 24),
		section("What this vault is"), parts.Space(0, 8), parts.Column(4, about...))
	return parts.Column(0, out...)
}

// option is one value of a setting.
type option struct{ value, name string }

func (p *settingsPage) shut(u *UI) func() { return func() { p.asking = ""; u.rebuild() } }

// ask opens a question below its line.
func (p *settingsPage) ask(u *UI, what string) {
	p.asking = what
	q := newQuestion(u, p.shut(u))
	done := func(said *banner) func(error) {
		return func(err error) {
			p.asking = ""
			if err == nil {
				u.banner = said
			}
		}
	}
	if p.askPasskeys(u, q, what) || p.askFurther(u, q, what) {
		p.question = q
		u.asked(q)
		return
	}
	switch what {
	case "protection":
		for _, x := range protections {
			blocked := ""
			if x.value == u.state.Status.Public.Protection {
				blocked = "This is what protects it now."
			}
			q.add(x.name, x.why, blocked, func() {
				u.run("secret", func(ctx context.Context) error { return u.owner.ChangeProtection(ctx, x.value, keys.SurfaceWindow) },
					done(&banner{parts.Calm, "check", "The protection was changed", "From now on this opens the vault: " + x.short + "."}))
			})
		}
	case "words":
		q.add("Show the words", "The secret window shows all 24 and asks three of them back. Look around first.", "", func() {
			u.run("secret", func(ctx context.Context) error { return u.owner.ShowWords(ctx, keys.SurfaceWindow) },
				done(&banner{parts.Calm, "check", "The words were shown", "Keep the paper where you keep what matters."}))
		})
		q.add("Leave it as it is", "Nothing is shown.", "", p.shut(u))
	case "backup":
		path := strings.TrimSpace(u.opts.BackupFile())
		q.add("Back up to "+safe(path), "The secret window asks for a passphrase for this file. The file must not exist yet.", "", func() {
			u.run("secret", func(ctx context.Context) error { return u.owner.Backup(ctx, path, keys.SurfaceWindow) },
				done(&banner{parts.Calm, "check", "The backup was written", "It is in " + safe(path) + "."}))
		})
		q.add("Leave it as it is", "Nothing is written.", "", p.shut(u))
	case "instance":
		q.add("Start a new instance", "The addresses stay. Grants and limited envelopes are suspended, because earlier uses are not known.", "", func() {
			u.run("", u.owner.NewInstance, done(&banner{parts.Calm, "check", "A new instance began", "Grants and limited envelopes are suspended; what you admit again stands in Settings."}))
		})
		q.add("Leave it as it is", "The vault opens for reading only.", "", p.shut(u))
	}
	p.question = q
	u.asked(q)
}
