# Every target says what it needs and installs what is missing: see
# scripts/bootstrap. "make help" lists the targets.

GO      ?= go
PREFIX  ?= /usr/local
DESTDIR ?=

# One set of flags for programs, tests and checks, so that the C parts of the
# window are compiled once. -buildvcs=false: the version comes by -ldflags.
export GOFLAGS := -trimpath -buildvcs=false

VERSION = $(shell scripts/version)
LDFLAGS = -s -w -X main.version=$(VERSION)
TAGS    = release,migrated_fynedo,no_metadata

# runtime/secret wipes what the key process leaves on stacks and in registers.
# It exists on these systems only. It belongs to that one build: the variable
# is set for its command alone, and Go keeps the results apart in its cache.
GOTARGET   = $(subst $() $(),/,$(shell $(GO) env GOOS GOARCH 2>/dev/null))
KEYPROCESS = CGO_ENABLED=0 $(if $(filter linux/amd64 linux/arm64,$(GOTARGET)),GOEXPERIMENT=runtimesecret)

.PHONY: help run build headless test test-long bench shots samples demo install clean

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## /\1	/p' Makefile | expand -t 12

run: ## open the vault: window, terminal or demo, by what is here
	@MAKE="$(MAKE)" scripts/run

build: ## bin/vault and bin/vault-key
	@scripts/bootstrap build
	$(GO) build -tags $(TAGS) -ldflags '$(LDFLAGS)' -o bin/vault ./cmd/vault
	$(KEYPROCESS) $(GO) build -ldflags '$(LDFLAGS)' -o bin/vault-key ./cmd/vault-key

headless: ## the same without a window, pure Go: bin/headless
	@scripts/bootstrap go
	CGO_ENABLED=0 $(GO) build -tags headless -ldflags '$(LDFLAGS)' -o bin/headless/vault ./cmd/vault
	$(KEYPROCESS) $(GO) build -ldflags '$(LDFLAGS)' -o bin/headless/vault-key ./cmd/vault-key

test: ## checks and tests, under 20 minutes
	@scripts/test

test-long: ## large counts, and a minute of fuzzing per target (FUZZTIME)
	@scripts/test long

bench: ## all benchmarks in one table, from one run
	@scripts/bench

shots: ## pictures of every view, into docs/img
	@scripts/bootstrap go
	CGO_ENABLED=0 $(GO) run ./internal/shots

# The folder must be empty or not there: make samples SAMPLES=elsewhere
SAMPLES ?= build/samples

samples: headless ## one record of each kind that a passkey confirms, into SAMPLES
	$(GO) run ./internal/samples $(SAMPLES)

demo: build ## a tour on a display of its own; DEMO=-agreements: one agreement to its end
	@scripts/bootstrap demo
	$(GO) run ./internal/demo $(DEMO)

# Both programs go into one folder: vault looks for vault-key beside itself.
# Where root installs, they are made unreadable (0711): such a program cannot
# be traced or read by others of the same account from its first instant on.
install: ## PREFIX and DESTDIR as usual
	@test -x bin/vault && test -x bin/vault-key || { echo "nothing to install: run \"make build\" first" >&2; exit 1; }
	install -d $(DESTDIR)$(PREFIX)/bin
	install -m 0711 bin/vault bin/vault-key $(DESTDIR)$(PREFIX)/bin/
	install -d $(DESTDIR)$(PREFIX)/share/applications $(DESTDIR)$(PREFIX)/share/metainfo $(DESTDIR)$(PREFIX)/lib/systemd/user $(DESTDIR)$(PREFIX)/share/licenses/vault
	install -m 0644 packaging/local.vault.Vault.desktop $(DESTDIR)$(PREFIX)/share/applications/
	install -m 0644 packaging/local.vault.Vault.metainfo.xml $(DESTDIR)$(PREFIX)/share/metainfo/
	sed 's|@bindir@|$(PREFIX)/bin|' packaging/vault.service > $(DESTDIR)$(PREFIX)/lib/systemd/user/vault.service
	chmod 0644 $(DESTDIR)$(PREFIX)/lib/systemd/user/vault.service
	install -m 0644 assets/fonts/OFL.txt $(DESTDIR)$(PREFIX)/share/licenses/vault/OFL.txt
	for s in 16 32 48 64 128 256 512; do \
		install -D -m 0644 assets/app/icon-$$s.png $(DESTDIR)$(PREFIX)/share/icons/hicolor/$${s}x$$s/apps/local.vault.Vault.png || exit 1; \
	done
	install -D -m 0644 assets/app/icon.svg $(DESTDIR)$(PREFIX)/share/icons/hicolor/scalable/apps/local.vault.Vault.svg

clean: ## what was built here; Go's own cache stays
	rm -rf bin build
