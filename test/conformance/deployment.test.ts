/** The files of a deployment, checked without a Docker engine: what they say must load, be allowed, exist and start. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { z } from 'zod'
import { readConfig } from '../../config/read.ts'
import { SETTINGS } from '../../config/settings.ts'
import { lintDockerfile, loadCompose, parseQueries, readYaml } from '../support/deployment-checkers.ts'
import { requireTool } from '../support/require-tool.ts'
import { QUESTDB_LOAD_SETTINGS } from '../support/servers/questdb.ts'
import { PROJECT_ROOT } from '../support/start-millrace.ts'

const COMPOSE_FILE = join(PROJECT_ROOT, 'docker-compose.yml')
const COMPOSE_TEXT = readFileSync(COMPOSE_FILE, 'utf8')
const SECRETS = {
  NATS_PASSWORD: 'of-nats',
  POSTGRES_PASSWORD: 'of-postgres',
  QUESTDB_PASSWORD: 'of-questdb',
  GRAFANA_PASSWORD: 'of-grafana',
  JWT_TOKEN_SIGNING_KEY: randomBytes(64).toString('base64'),
}

const Project = z.object({
  services: z.record(
    z.string(),
    z.object({
      build: z.object({ context: z.string() }).optional(),
      image: z.string(),
      restart: z.string(),
      environment: z.record(z.string(), z.string()).default({}),
      healthcheck: z.object({ test: z.array(z.string()) }).optional(),
      ports: z
        .array(z.object({ host_ip: z.string().optional(), published: z.string(), target: z.number() }))
        .default([]),
      volumes: z.array(z.object({ type: z.string(), source: z.string().optional(), target: z.string() })).default([]),
      deploy: z.object({ resources: z.object({ limits: z.object({ cpus: z.number(), memory: z.string() }) }) }),
    }),
  ),
  volumes: z.record(z.string(), z.unknown()),
})
type Project = z.infer<typeof Project>

async function composeProject(variables: Readonly<Record<string, string>> = SECRETS): Promise<Project> {
  const { ok, output, complaints } = await loadCompose(COMPOSE_FILE, variables)
  assert.ok(ok, complaints)
  return Project.parse(JSON.parse(output))
}

test('the compose file loads, and each service has a limit, a restart and a health check', async (context) => {
  if (!requireTool(context, 'go')) return
  const { services } = await composeProject()
  for (const [name, service] of Object.entries(services)) {
    assert.equal(service.restart, 'unless-stopped', name)
    assert.ok(service.deploy.resources.limits.cpus > 0 && Number(service.deploy.resources.limits.memory) > 0, name)
    // What is built here brings the check of its Dockerfile.
    assert.ok(service.healthcheck !== undefined || service.build !== undefined, `${name} has no health check`)
    assert.match(service.image, /:v?\d/, `${name} names no version of its image`)
  }
})

test('the compose file publishes on loopback unless told otherwise', async (context) => {
  if (!requireTool(context, 'go')) return
  const addresses = ({ services }: Project) =>
    Object.entries(services).flatMap(([name, { ports }]) => ports.map((port) => [name, port.target, port.host_ip]))
  assert.deepEqual(
    addresses(await composeProject()).filter(([, , address]) => address !== '127.0.0.1'),
    [],
  )
  const open = addresses(await composeProject({ ...SECRETS, PUBLISH_ADDRESS: '0.0.0.0' }))
  assert.deepEqual(
    open.filter(([, , address]) => address !== '127.0.0.1'),
    [
      ['millrace', 8080, '0.0.0.0'],
      ['millrace', 1883, '0.0.0.0'],
      ['millrace', 5683, '0.0.0.0'],
      ['millrace', 5685, '0.0.0.0'],
      ['millrace', 5687, '0.0.0.0'],
    ],
  )
})

test('the compose file refuses to load without each of its secrets, and says which to set', async (context) => {
  if (!requireTool(context, 'go')) return
  for (const name of Object.keys(SECRETS)) {
    const { ok, complaints } = await loadCompose(COMPOSE_FILE, { ...SECRETS, [name]: '' })
    assert.equal(ok, false, name)
    assert.match(complaints, new RegExp(`set ${name} in \\.env`))
  }
})

test('what the compose file tells Millrace are settings with values that they take', async (context) => {
  if (!requireTool(context, 'go')) return
  const { services } = await composeProject()
  const known = new Set<string>(Object.values(SETTINGS).map(({ name }) => name))
  const ours = Object.entries(services).filter(([, { build }]) => build !== undefined)
  assert.deepEqual(ours.map(([name]) => name).sort(), ['engine', 'millrace'])
  for (const [name, { environment }] of ours) {
    assert.deepEqual(
      Object.keys(environment).filter((variable) => !known.has(variable)),
      [],
      name,
    )
    const config = readConfig({ ...environment, DEMO: 'false', HTTP_BIND_ADDRESS: '0.0.0.0' })
    assert.equal(config.link, 'jetstream')
    assert.equal(config.entitiesDatabase, 'postgres')
    assert.equal(config.timeSeriesDatabase, 'questdb')
    assert.equal(config.durability, 'power-cut')
  }
})

test('issue-8 4: the compose file sets what a transaction of QuestDB costs as it was measured', () => {
  const set = new Map([...COMPOSE_TEXT.matchAll(/^ +QDB_(\w+): '?([^'\n]+)/gm)].map(([, name, value]) => [name, value]))
  for (const [property, value] of Object.entries(QUESTDB_LOAD_SETTINGS)) {
    assert.equal(set.get(property.toUpperCase().replaceAll('.', '_')), value, property)
  }
})

test('each variable of the compose file is explained in .env.example and in the guide, and none is left over there', () => {
  const used = new Set([...COMPOSE_TEXT.matchAll(/\$\{(\w+)/g)].map((match) => match[1]))
  const example = readFileSync(join(PROJECT_ROOT, '.env.example'), 'utf8')
  const offered = new Set([...example.matchAll(/^(\w+)=/gm)].map((match) => match[1]))
  assert.deepEqual([...offered].sort(), [...used].sort())
  const guide = readFileSync(join(PROJECT_ROOT, 'docs', 'guides', 'deploying.md'), 'utf8')
  for (const name of used) assert.ok(guide.includes(`\`${name}\``), `the guide does not explain ${name}`)
})

test('every file that the compose file mounts is there, and every volume is declared and used', async (context) => {
  if (!requireTool(context, 'go')) return
  const { services, volumes } = await composeProject()
  const mounts = Object.values(services).flatMap((service) => service.volumes)
  for (const { source = '' } of mounts.filter(({ type }) => type === 'bind')) {
    assert.ok(existsSync(join(PROJECT_ROOT, source)), `${source} is mounted and not there`)
  }
  const used = new Set(
    mounts.filter(({ type, source }) => type === 'volume' && source !== undefined).map(({ source }) => source),
  )
  assert.deepEqual([...used].sort(), Object.keys(volumes).sort())
})

test('the Dockerfile has no complaint of its linter', async (context) => {
  if (!requireTool(context, 'python3')) return
  const { ok, complaints } = await lintDockerfile(join(PROJECT_ROOT, 'Dockerfile'))
  assert.ok(ok, complaints)
})

test('Prometheus asks services that exist on ports that they have', async (context) => {
  if (!requireTool(context, 'python3')) return
  const { ok, output, complaints } = await readYaml(join(PROJECT_ROOT, 'deploy', 'prometheus.yml'))
  assert.ok(ok, complaints)
  const Prometheus = z.object({
    scrape_configs: z.array(
      z.object({
        job_name: z.string(),
        dns_sd_configs: z.array(z.object({ names: z.array(z.string()), port: z.number() })).default([]),
        static_configs: z.array(z.object({ targets: z.array(z.string()) })).default([]),
      }),
    ),
  })
  const targets = Prometheus.parse(JSON.parse(output)).scrape_configs.flatMap((job) => [
    ...job.dns_sd_configs.flatMap(({ names, port }) => names.map((name) => `${name}:${port}`)),
    ...job.static_configs.flatMap((one) => one.targets),
  ])
  assert.deepEqual(targets, ['millrace:8080', 'engine:8080', 'questdb:9003'])
  for (const target of targets) assert.match(COMPOSE_TEXT, new RegExp(`^  ${target.split(':')[0]}:$`, 'm'))
  assert.equal(readConfig({}).httpBindPort, 8080)
})

test('Grafana finds its dashboards where they are mounted and the data source that they ask', async (context) => {
  if (!requireTool(context, 'python3')) return
  const grafana = join(PROJECT_ROOT, 'deploy', 'grafana')
  const read = async (name: string): Promise<unknown> => {
    const { ok, output, complaints } = await readYaml(join(grafana, 'provisioning', name))
    assert.ok(ok, complaints)
    return JSON.parse(output)
  }
  const Sources = z.object({ datasources: z.tuple([z.object({ uid: z.string(), type: z.string(), url: z.string() })]) })
  const [source] = Sources.parse(await read('datasources/prometheus.yml')).datasources
  assert.equal(source.url, 'http://prometheus:9090')
  const dashboard = readFileSync(join(grafana, 'dashboards', 'millrace.json'), 'utf8')
  const asked = new Set([...dashboard.matchAll(/"uid": "(\w+)"\n\s+\}/g)].map((match) => match[1]))
  assert.deepEqual([...asked], [source.uid])
  const Providers = z.object({ providers: z.tuple([z.object({ options: z.object({ path: z.string() }) })]) })
  const [provider] = Providers.parse(await read('dashboards/millrace.yml')).providers
  assert.match(COMPOSE_TEXT, new RegExp(`\\./deploy/grafana/dashboards:${provider.options.path}:ro`))
})

test('Prometheus understands every query of the dashboard', async (context) => {
  if (!requireTool(context, 'go')) return
  const dashboard = readFileSync(join(PROJECT_ROOT, 'deploy', 'grafana', 'dashboards', 'millrace.json'), 'utf8')
  const Panels = z.object({
    panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })).default([]) })),
  })
  const queries = Panels.parse(JSON.parse(dashboard)).panels.flatMap(({ targets }) =>
    // What Grafana puts in.
    targets.map(({ expr }) => expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*')),
  )
  assert.ok(queries.length > 50, `${queries.length} queries`)
  const { ok, complaints } = await parseQueries(queries)
  assert.ok(ok, complaints)
  assert.equal((await parseQueries(['sum(rate(up[1m])'])).ok, false)
})
