# One image for all three processes; the argument says which. The local cluster is not in it: it is for people's own machines.
# Build it with any tool that reads Dockerfiles:
#   docker build --tag tutti:0.1.0 .
ARG PYTHON=3.11-slim-bookworm

FROM python:${PYTHON} AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE tutti.py ./
COPY hack/constraints.txt hack/constraints.txt
COPY api api
COPY config config
COPY controllers controllers
COPY install install
COPY kube kube
COPY providers providers
COPY scheduler scheduler
COPY webhooks webhooks
RUN python -m venv /tutti \
    && /tutti/bin/pip install --no-cache-dir --disable-pip-version-check --constraint hack/constraints.txt . \
    && /tutti/bin/pip uninstall --yes pip setuptools \
    && /tutti/bin/python -m compileall -q /tutti/lib

FROM python:${PYTHON}
COPY --from=build /tutti /tutti
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1
USER 65532:65532
ENTRYPOINT ["/tutti/bin/tutti"]
