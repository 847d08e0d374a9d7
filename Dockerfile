# One image for all services of docker-compose.yml; each runs another command of `mnemolog`.
FROM python:3.12-slim AS build
WORKDIR /source
COPY . .
RUN pip install --no-cache-dir --prefix=/installed '.[kafka,http]'

FROM python:3.12-slim
COPY --from=build /installed /usr/local
# What is kept lies here: the home of the projector, the saved state of a worker. Made before the volume, so that the
# volume belongs to the user who writes it.
RUN useradd --uid 10001 --create-home mnemolog && install -d -o mnemolog -g mnemolog /var/lib/mnemolog
USER mnemolog
ENV MNEMOLOG_HOME=/var/lib/mnemolog PYTHONUNBUFFERED=1
VOLUME /var/lib/mnemolog
EXPOSE 9180
ENTRYPOINT ["mnemolog"]
CMD ["--help"]
