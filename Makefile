# The tasks of this repository. `make` lists them; .ci/run calls them in its order.
# They need Go and make; what else a task needs, it says.

TOOL := go tool -modfile=tools/go.mod
# Packages with files that the build tags of .golangci.yml leave out.
UNTAGGED = $(shell grep -rlE --include='*.go' '^//go:build !(failpoints|long)' . | xargs -n1 dirname | sort -u)

# Packages whose tests do more with the build tag long, but for that which takes minutes.
LONG = $(filter-out ./internal/space/state,$(shell grep -rlE --include='*_test.go' \
	'^//go:build .*long|check\.Long' . | xargs -n1 dirname | sort -u))
# Packages that start goroutines, in their code or in their tests. In the others there is no race.
CONCURRENT = $(shell grep -rlE --include='*.go' \
	'^[[:blank:]]+go [[:alpha:]]|\.Go.func|parallel\.[A-Z]' cmd bench internal | \
	xargs -n1 dirname | sort -u | sed 's|^|./|')
LONGTESTS = Real|Planted|ScoreAsTheScript|HostilePages|MIHCandidates|Initials|AddedMethod

.DEFAULT_GOAL := help

# Releases have no C code, and without it there is less to compile. The race detector needs it.
export CGO_ENABLED ?= 0

.PHONY: help
help: ## list the tasks
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: build
build: ## build ./clusterd
	go build ./cmd/clusterd

.PHONY: test
test: ## run the tests that need nothing but Go
	go test ./...

.PHONY: variants
variants: ## run the tests that need other build tags, but for those of make long
	go test -vet=off -tags failpoints ./internal/failpoint ./internal/pipeline/seeded
	go test -vet=off -tags long -run '$(LONGTESTS)' $(LONG)

.PHONY: race
race: ## run the tests of the packages that start goroutines under the race detector
	CGO_ENABLED=1 go test -race -vet=off $(CONCURRENT)

.PHONY: long
long: ## damage every byte of a store; takes minutes
	go test -tags long -timeout 1h ./internal/space/state

.PHONY: kafka
kafka: ## test on a real Kafka, after integration/kafka start: ARGS='-run TestRestart -v'
	go test -tags integration -count=1 -timeout 40m ./integration $(ARGS)

.PHONY: lint
lint: ## vet, lint and check the formatting and go.mod; LINTFLAGS adds flags
	$(TOOL) golangci-lint run $(LINTFLAGS) ./...
	$(TOOL) golangci-lint run --build-tags= $(LINTFLAGS) $(UNTAGGED)
	go mod tidy -diff

.PHONY: format
format: ## format the code
	$(TOOL) golangci-lint fmt ./...

.PHONY: update
update: ## rewrite all golden files and configs/reference.yaml; read git diff after it
	go test $$(grep -rl --include='*_test.go' testutil/golden . | xargs -n1 dirname | sort -u) -update

.PHONY: generate
generate: ## rewrite generated code
	go generate ./...

TIME := 30s
.PHONY: fuzz
fuzz: ## fuzz one target: PKG=./internal/text FUZZ=FuzzTokens TIME=5m
	go test -run '^$$' -fuzz '^$(FUZZ)$$' -fuzztime $(TIME) $(PKG)

BASE := HEAD
.PHONY: bench
bench: ## compare the benchmarks of BASE with those here: BASE=main ARGS='--packages text'
	bench/compare $(ARGS) $(BASE)

.PHONY: ratios
ratios: ## hold pairs of benchmarks to bench/ratios.tsv
	bench/ratios

.PHONY: site
site: ## build the documents as a site in site/, with every link checked; needs Python
	tools/site/build

.PHONY: package
package: ## make archives, deb, rpm and SBOMs of this commit in dist/; ONLY=linux_amd64 for less
	ONLY=$(ONLY) deploy/package/snapshot

.PHONY: reproduce
reproduce: ## make the packages again, from a clone of this commit, and compare them with dist/
	ONLY=$(ONLY) deploy/package/reproduce

.PHONY: chart
chart: ## check the Helm chart and the compose file; ARGS=-update rewrites golden file and copies
	cd tools/helm && go test -count=1 $(ARGS)

.PHONY: check
check: ## all that must pass before a change lands
	.ci/run
