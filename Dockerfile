# One image for all three processes; the argument says which. The local cluster is not in it: it is for people's own machines.
# Build it with any tool that reads Dockerfiles, and push it to a registry that the cluster can read (README: In a cluster):
#   docker build --tag REGISTRY/tutti:0.1.0 . && docker push REGISTRY/tutti:0.1.0
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
WORKDIR /source
# First what changes seldom, so that a change of the sources builds in seconds.
COPY pyproject.toml ./
COPY hack/constraints.txt hack/constraints.txt
RUN python -m venv /tutti \
    && python -c "import tomllib; print(*tomllib.load(open('pyproject.toml', 'rb'))['project']['dependencies'], sep='\n')" > needed.txt \
    && /tutti/bin/pip install --no-cache-dir --disable-pip-version-check --constraint hack/constraints.txt --requirement needed.txt
COPY README.md LICENSE tutti.py asking.py kubectl_gang.py ./
COPY api api
COPY config config
COPY controllers controllers
COPY explain explain
COPY install install
COPY kube kube
COPY providers providers
COPY scheduler scheduler
COPY views views
COPY webhooks webhooks
RUN /tutti/bin/pip install --no-cache-dir --disable-pip-version-check --constraint hack/constraints.txt . \
    && /tutti/bin/pip uninstall --yes pip setuptools
# Half of what was installed is never imported: of the kubernetes client its loader of kubeconfigs is used, not its calls (a test
# watches that); and tests, type stubs, sources of compiled modules and numpy's own build tools are for developers.
RUN cd /tutti/lib/python3*/site-packages \
    && rm -r kubernetes/aio numpy/f2py cel_expr_python/ext \
    && find kubernetes/client/api kubernetes/client/models -type f ! -name __init__.py -delete \
    && find . -type d -name tests -prune -exec rm -r {} + \
    && find . -type f \( -name '*.pyi' -o -name '*.pyx' -o -name '*.pxd' -o -name '*.a' -o -name '*.h' \) -delete \
    && find . -type d -name __pycache__ -prune -exec rm -r {} + \
    && PYTHONHASHSEED=0 /tutti/bin/python -m compileall -q --invalidation-mode unchecked-hash /tutti/lib

FROM python:${PYTHON}
COPY --from=build /tutti /tutti
# The official base image has none of its library compiled, and nobody can write there later: each start would compile it all.
RUN ["/tutti/bin/python", "-c", "import uvloop, controllers.main, install.uninstall, scheduler.main, webhooks.main"]
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["/tutti/bin/tutti"]
