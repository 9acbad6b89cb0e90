# What is not part of the default tests: it installs and runs programs of others.
PYTHON ?= .venv/bin/python
ONLY ?=

.PHONY: clients
clients:  ## run real clients against the gateway and renew docs/clients.md; ONLY="pi codex" runs some, DRAGOMAN_CLIENTS_CACHE says where they are installed
	failed=0; \
	$(PYTHON) clients/run.py --page $(ONLY) || failed=1; \
	$(PYTHON) clients/endure.py --page $(ONLY) || failed=1; \
	$(PYTHON) -m clients.scenes --page || failed=1; \
	exit $$failed

.PHONY: scenes
scenes:  ## play scenes over the official SDKs for Python and Node at scripted models of every API, and renew their table
	$(PYTHON) -m clients.scenes --page

EXAMPLES ?= 400

.PHONY: openapi
openapi:  ## send every operation of /openapi.json right and wrong requests; needs schemathesis beside PYTHON
	$(PYTHON) scripts/attack_openapi.py $(EXAMPLES)
