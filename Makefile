# Trestle needs Go, git and make. The linter and the test runner are pinned in
# tools.mod and built by the go command at first use (some minutes, once).

BIN   ?= bin/trestle
TOOL  := go tool -modfile=tools.mod

# No C anywhere but in the race detector: what is tested is what is built.
export CGO_ENABLED := 0

# Property tests draw the same cases each time, so that a red test is a change's
# doing. RAPID_SEED=0 draws others; what that finds becomes a test of its own.
export RAPID_SEED ?= 1

.DEFAULT_GOAL := help
.PHONY: help fmt lint fix test chromium postgres redis mcp browser race scene fuzz faults rolling siege toolkills storms days hostile bench microbench vuln db/new run build deb parity clean

help: ## show this list
	@grep -hE '^[a-z/]+:.*## ' Makefile | awk -F ':.*## ' '{ printf "  make %-11s %s\n", $$1, $$2 }'

fmt: ## format every file
	@$(TOOL) golangci-lint fmt

lint: ## look for faults without running anything
	@go vet ./... && go vet -tags faultinject ./...
	@$(TOOL) golangci-lint run
	@$(TOOL) golangci-lint run --build-tags npm ./internal/mcpclient
	@$(TOOL) golangci-lint run --build-tags faultinject $(patsubst %,./%/...,$(wildcard internal/failpoint internal/crashtest))

fix: ## modernise, tidy and format
	@go fix ./... && go mod tidy && $(TOOL) golangci-lint fmt

test: chromium postgres redis ## run every test (some need a browser, some a Postgres or a Redis server of their own)
	@echo 'building and testing every package; the first build takes some minutes, later runs two to five'
	@go test -timeout 15m ./...
	@go test -timeout 1m -tags otlp ./internal/telemetry

# The console is tested in a real browser. Root has it installed; anybody else is
# told how.
chromium:
	@command -v chromium >/dev/null && command -v chromedriver >/dev/null || { \
		[ "$$(id -u)" -eq 0 ] || { echo 'the tests of the console need a browser: apt-get install chromium chromium-driver, as root' >&2; exit 1; }; \
		echo 'installing chromium and chromium-driver for the tests of the console'; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends chromium chromium-driver >/dev/null; }

# Tests start private Postgres servers from the installed programs, as an ordinary
# user and on free ports. No server of the machine is needed, nor is one started:
# what the package would create is held back.
postgres:
	@ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 || command -v initdb >/dev/null || { \
		[ "$$(id -u)" -eq 0 ] || { echo 'the tests of the store need a Postgres server: apt-get install postgresql, as root' >&2; exit 1; }; \
		echo 'installing postgresql for the tests of the store'; \
		mkdir -p /etc/postgresql-common/createcluster.d && \
		echo 'create_main_cluster = false' >/etc/postgresql-common/createcluster.d/trestle-tests.conf && \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends postgresql >/dev/null; }

# The same for Redis; the package would start a server where there is a systemd.
redis:
	@command -v redis-server >/dev/null || { \
		[ "$$(id -u)" -eq 0 ] || { echo 'the tests of notifications need a Redis server: apt-get install redis-server, as root' >&2; exit 1; }; \
		echo 'installing redis-server for the tests of notifications'; \
		apt-get -qq update && RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends redis-server >/dev/null; }

# Tool servers that others wrote, in the versions of internal/mcpclient/testdata/npm,
# with a Node of their own. Their dependencies are those of one day.
mcp: bin/.npm/package.json ## call tool servers of npm, and be called by the conformance suite (needs the network)
	@NPM_MODULES=$(abspath bin/.npm/node_modules) go test -count=1 -tags npm -timeout 3m -run Npm ./internal/mcpclient ./internal/mcpserver

bin/.npm/package.json: internal/mcpclient/testdata/npm/package.json
	@command -v npm >/dev/null || { \
		[ "$$(id -u)" -eq 0 ] || { echo 'the tests of tool servers need npm: apt-get install nodejs npm, as root' >&2; exit 1; }; \
		echo 'installing nodejs and npm for the tests of tool servers'; \
		apt-get -qq update && DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends nodejs npm >/dev/null; }
	@rm -rf $(@D) && mkdir -p $(@D)/new && cp $< $(@D)/new
	@npm install --prefix $(@D)/new --before 2026-11-20 --no-package-lock --no-audit --no-fund --loglevel error >/dev/null
	@mv $(@D)/new/* $(@D) && rmdir $(@D)/new

browser: chromium ## run the console's tests in a real browser
	@go test -count=1 -timeout 2m -v ./internal/console/browsertest

race: chromium postgres redis ## run every test under the race detector, in another order (needs a C compiler)
	@.ci/race ./...

scene: ## run the conversations of testdata/scenes; UPDATE=1 rewrites what they expect
	@go test -count=1 -run Scene -timeout 5m ./cmd/trestle/internal/server $(if $(UPDATE),-args -update)

fuzz: ## run the fuzz targets for their seeds; FUZZTIME=1m searches for so long in each
ifndef FUZZTIME
	@go test -run '^Fuzz' -timeout 5m ./...
else
	@grep -rl --include='*_test.go' '^func Fuzz' . | sort | while read -r file; do \
		for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9_]*\).*/\1/p' "$$file"); do \
			echo "$$file $$target"; \
			go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME) "$$(dirname "$$file")" || exit 1; \
		done; \
	done
endif

faults: ## kill the real binary at every failpoint and audit its database (some minutes)
	@go test -count=1 -tags faultinject -timeout 5m ./internal/failpoint
	@go test -count=1 -tags faultinject -timeout 30m -v ./internal/crashtest/...

siege: ## crash the Postgres server twenty times under three processes
	@go test -count=1 -tags faultinject -timeout 10m -v -run '^TestCrewOutlivesCrashesOfPostgres$$' ./internal/crashtest

toolkills: ## kill programs that call tools two hundred times; KILLS=1000 sets how often
	@go test -count=1 -tags faultinject -timeout 60m -v -run '^TestToolThatWritesIsNeverCalledTwice$$' ./internal/crashtest -args -toolkills $(or $(KILLS),200)

storms: ## simulate faults over three processes, Postgres and Redis for ten seeds; STORMS=17 runs one
	@STORMS=$(or $(STORMS),0-9) go test -count=1 -tags faultinject -timeout 60m -v -parallel 2 -run '^TestStormsLoseNothing$$' ./internal/crashtest

rolling: ## replace three processes by those of another version and back, under load
	@go test -count=1 -tags faultinject -timeout 10m -v -run '^TestVersionsChangeByTurns$$' ./internal/crashtest

days: ## simulate a hundred days of people, platforms and faults, each by its seed; DAYS=17 runs one
	@DAYS=$(or $(DAYS),0-99) go test -count=1 -run TestDaysOfWhateverHappens -timeout 60m ./cmd/trestle/internal/server

hostile: ## render 259,200 hostile texts and read every frame back (some minutes)
	@HOSTILE=all go test -count=1 -run TestNoFieldCanForgeALine -timeout 20m ./hud

bench: ## measure the binary end to end, beside bare baselines
	@go run ./internal/bench $(ARGS)

microbench: ## run the benchmarks of single functions
	@go test -run '^$$' -bench . -benchmem ./...

vuln: ## ask the Go vulnerability database (needs the network)
	@$(TOOL) govulncheck ./...

db/new: ## start a migration, a file for each engine: make db/new NAME=add_topics
	@test -n "$(NAME)" || { echo 'usage: make db/new NAME=add_topics' >&2; exit 2; }
	@for engine in sqlite postgres; do \
		n=$$(ls migrations/$$engine | sed -n 's/^\([0-9]*\)_.*/\1/p' | sort -n | tail -1 | sed 's/^0*//'); \
		file=$$(printf 'migrations/%s/%04d_%s.sql' $$engine $$((n + 1)) '$(NAME)'); \
		printf -- '-- +goose Up\n' > "$$file" && echo "$$file"; done

run: ## start Trestle; in a terminal it opens the chat
	@echo 'building trestle where it has changed; the first build takes a minute or two' >&2
	@go run ./cmd/trestle run $(ARGS)

build: ## build bin/trestle, static and reproducible; TAGS=otlp adds the exporter of traces
	@go build -trimpath $(if $(TAGS),-tags '$(TAGS)') -ldflags='-s -w' -o $(BIN) ./cmd/trestle

# The version of a package; a release names its own.
VERSION ?= 0.1.0~dev.$(or $(shell git log -1 --format=%cd --date=format:%Y%m%d%H%M 2>/dev/null),0)

deb: ## build a Debian package in bin (needs dpkg-deb); VERSION=1.2.3 names it
	@command -v dpkg-deb >/dev/null || { echo 'make deb needs dpkg-deb, which is part of Debian' >&2; exit 1; }
	@go build -trimpath -tags otlp -ldflags='-s -w -X github.com/trestle-bridge/trestle/cmd/trestle/internal/buildinfo.Version=$(VERSION)' -o $(BIN) ./cmd/trestle
	@packaging/deb/build.sh $(abspath $(BIN)) '$(VERSION)' $(dir $(BIN))

parity: ## list the requirements of docs/requirements.md, or of FILE, with the tests that cite them; OUT=parity.md writes a page
	@go run ./internal/parity $(if $(OUT),-out '$(OUT)') '$(or $(FILE),docs/requirements.md)'

clean: ## remove what was built
	@rm -rf bin
