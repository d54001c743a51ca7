# syntax=docker/dockerfile:1
# Another base may be given: it has Python 3.11 or newer as `python`, with venv.
ARG BASE=python:3.13-slim-bookworm
FROM ${BASE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
WORKDIR /muster
RUN python -m venv /venv
COPY requirements.lock ./
RUN /venv/bin/pip install --require-hashes -r requirements.lock
COPY pyproject.toml README.md ./
COPY app app
COPY workers workers
# As in a checkout: the command finds templates and migrations beside the code, from any folder. A copy of the code would not.
RUN /venv/bin/pip install --no-deps --no-build-isolation --editable .

FROM ${BASE}
ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 MUSTER_ENV=production MUSTER_DATA_DIR=/data PATH=/venv/bin:$PATH
RUN useradd --system --uid 10001 --home-dir /data --create-home muster
WORKDIR /muster
COPY --from=build /venv /venv
COPY app app
COPY workers workers
COPY migrations migrations
COPY templates templates
COPY static static
COPY docs docs
# The user muster may not write here: without this, each start would compile all of it again.
RUN python -m compileall -q --invalidation-mode unchecked-hash app workers migrations
USER muster
VOLUME /data
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["python", "-c", "import urllib.request as r; r.urlopen('http://127.0.0.1:8000/health/live', timeout=4)"]
ENTRYPOINT ["muster"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000", "--no-worker"]
