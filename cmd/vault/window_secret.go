//go:build !headless

package main

import (
	"io"
	"os"

	"fyne.io/fyne/v2"
	"fyne.io/fyne/v2/app"

	"vault/cmd/internal/secret"
	"vault/cmd/vault/internal/composed"
	"vault/cmd/vault/internal/secretwin"
	"vault/cmd/vault/internal/survey"
	forms "vault/ui/secret"
)

// secretWindow draws the secret window for one conversation. It is called on the
// goroutine of main, which becomes Fyne's.
func secretWindow(conn io.ReadWriteCloser) error {
	if !survey.Display(os.Getenv) {
		return secret.Serve(conn, nowhere{})
	}
	if err := prepareToolkit(); err != nil {
		return err
	}
	a := app.NewWithID(appID)
	w := forms.New(a, "system", 100)
	served := make(chan error, 1)
	a.Lifecycle().SetOnStarted(func() {
		go func() {
			served <- secret.Serve(conn, composed.Prompter{Prompter: secretwin.New(w, fyne.Do, func() {
				w.Window().Show()
				w.Window().RequestFocus()
			})})
			fyne.Do(a.Quit)
		}()
	})
	a.Run()
	select {
	case err := <-served:
		return err
	default:
		// The toolkit has ended first; the end of the line says that to the key process.
		return conn.Close()
	}
}
