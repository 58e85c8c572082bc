/** QuestDB from Maven Central: one jar that Java runs. */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hasTool } from '../require-tool.ts'
import { installOnce, runInstaller } from './install.ts'
import { runServer, type PlaceOptions, type ServerDefinition } from './running-server.ts'
import { serverOfEnvironment, type RunningServer } from './server.ts'

export interface QuestDbOptions extends PlaceOptions {
  /** `sync`: a write is on the disk before it is acknowledged; `nosync` leaves that to the system. */
  readonly commitMode?: 'sync' | 'nosync'
  /** The Java heap in MiB; most of what QuestDB uses is beside it. */
  readonly heapMiB?: number
  /** Further lines for server.conf. */
  readonly settings?: Readonly<Record<string, string>>
}

export interface RunningQuestDb extends RunningServer {
  /** The PostgreSQL wire of it (user admin, password quest, database qdb); absent when the environment named the server. */
  readonly postgresUrl: string | undefined
}

const VERSION = '9.3.4'
const SHA256 = '939bc53ab22f93dbaa6545143a6e7c536d4904c07b7f2d381e8eef10436be062'
const MAVEN_COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy'
const LEAST_JAVA = 17
const OPENED = ['java.lang', 'java.lang.reflect', 'java.nio', 'java.time.zone', 'jdk.internal.math']

/** `TEST_QUESTDB_URL` (its HTTP address) is used as it is; else one is started. Throws when none can be had. */
export async function startQuestDb(options: QuestDbOptions = {}): Promise<RunningQuestDb> {
  const given = process.env['TEST_QUESTDB_URL']
  if (given !== undefined) return Object.assign(serverOfEnvironment('questdb', given), { postgresUrl: undefined })
  const wirePort: { value?: number } = {}
  const server = await runServer(questDbDefinition(await questDbJar(), options, wirePort), options)
  return Object.assign(server, { postgresUrl: `postgres://admin:quest@127.0.0.1:${wirePort.value}/qdb` })
}

/** True when `startQuestDb` has a way to a server here. */
export function canRunQuestDb(): boolean {
  return javaMajor() >= LEAST_JAVA && hasTool('mvn')
}

function javaMajor(): number {
  const { stderr } = spawnSync('java', ['-version'], { encoding: 'utf8' })
  return Number(/version "(\d+)/.exec(stderr ?? '')?.[1] ?? 0)
}

/** The path of the program. Throws when it can not be had. */
export async function questDbJar(): Promise<string> {
  const file = `questdb-${VERSION}.jar`
  const folder = await installOnce(`questdb-${VERSION}`, async (target) => {
    const artifact = `-Dartifact=org.questdb:questdb:${VERSION}`
    await runInstaller('mvn', ['-q', '-B', MAVEN_COPY, artifact, `-DoutputDirectory=${target}`], { folder: target })
    const found = createHash('sha256')
      .update(await readFile(join(target, file)))
      .digest('hex')
    if (found !== SHA256) throw new Error(`${file} does not match its pinned hash: expected ${SHA256}, got ${found}`)
  })
  return join(folder, file)
}

function questDbDefinition(jar: string, options: QuestDbOptions, wirePort: { value?: number }): ServerDefinition {
  return {
    name: 'questdb',
    portCount: 2,
    url: ([http]) => `http://127.0.0.1:${http}`,
    answers: async ([http]) => {
      const { status } = await fetch(`http://127.0.0.1:${http}/ping`, { signal: AbortSignal.timeout(2_000) })
      return status === 204
    },
    prepare: async (folders, [http = 0, wire = 0]) => {
      wirePort.value = wire
      const configuration = join(folders.data, 'conf')
      await mkdir(configuration, { recursive: true })
      await writeFile(join(configuration, 'server.conf'), questDbConfiguration(http, wire, options))
      await writeFile(join(configuration, 'log.conf'), LOG)
      const heap = options.heapMiB ?? 256
      return {
        command: 'java',
        parameters: [
          ...OPENED.map((name) => `--add-opens=java.base/${name}=ALL-UNNAMED`),
          `-Xms64m`,
          `-Xmx${heap}m`,
          '-XX:+UseSerialGC',
          '-cp',
          jar,
          'io.questdb.ServerMain',
          '-d',
          folders.data,
        ],
        endSignal: 'SIGTERM',
      }
    },
  }
}

/**
 * What a transaction costs less with, as `docker-compose.yml` sets it (`docs/internals/questdb.md`): workers rest soon after their last job, one
 * applies the one table's log, and an index grows by pieces as small as a group's share of it.
 */
export const QUESTDB_LOAD_SETTINGS: Readonly<Record<string, string>> = {
  'shared.worker.nap.threshold': '20',
  'shared.worker.sleep.threshold': '40',
  'wal.apply.worker.count': '1',
  'wal.apply.worker.yield.threshold': '10',
  'wal.apply.worker.nap.threshold': '20',
  'wal.apply.worker.sleep.threshold': '40',
  'http.worker.nap.threshold': '20',
  'http.worker.sleep.threshold': '100',
  'cairo.writer.data.index.key.append.page.size': '65536',
  'cairo.writer.data.index.value.append.page.size': '65536',
}

/** Its default writes a line for each request. */
const LOG = [
  'writers=stdout',
  'w.stdout.class=io.questdb.log.LogConsoleWriter',
  'w.stdout.level=ERROR,CRITICAL,ADVISORY',
  '',
].join('\n')

function questDbConfiguration(http: number, wire: number, options: QuestDbOptions): string {
  const settings: Record<string, string> = {
    'http.bind.to': `127.0.0.1:${http}`,
    'http.min.enabled': 'false',
    'pg.net.bind.to': `127.0.0.1:${wire}`,
    'line.tcp.enabled': 'false',
    'line.udp.enabled': 'false',
    'telemetry.enabled': 'false',
    'shared.worker.count': '1',
    'http.worker.count': '1',
    'cairo.commit.mode': options.commitMode ?? 'sync',
    ...QUESTDB_LOAD_SETTINGS,
    ...options.settings,
  }
  return Object.entries(settings)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('')
}
