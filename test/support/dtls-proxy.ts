/** The proxy of `deploy/dtls-proxy`, with its libraries from Maven Central, installed and compiled once. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { installOnce, runInstaller } from './servers/install.ts'
import { PROJECT_ROOT } from './start-millrace.ts'

const SOURCE = join(PROJECT_ROOT, 'deploy', 'dtls-proxy')
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies'
const HASH_DIGITS = 12

export interface DtlsProxy {
  /** The real one. */
  readonly port: number
  /** Resolves with what it says next that begins so. Rejects where it ends without. */
  heard(beginning: string): Promise<string>
  /** Ends it; resolves when it is gone. */
  kill(): Promise<void>
}

/** Listens on a free port, and looks for the server at the socket. */
export async function startDtlsProxy(
  kind: 'coap' | 'lwm2m',
  socket: string,
  more: readonly string[] = [],
): Promise<DtlsProxy> {
  const folder = await dtlsProxyProgram()
  const classPath = `${folder}:${join(folder, 'lib', '*')}`
  const child = spawn('java', ['-cp', classPath, 'DtlsProxy', kind, '127.0.0.1:0', socket, ...more], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints = (complaints + text).slice(-4096)))
  const lines: AsyncIterator<string, undefined> = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const heard = async (beginning: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`the proxy ended before it said '${beginning}':\n${complaints}`)
      if (value.startsWith(beginning)) return value
    }
  }
  const kill = async (): Promise<void> => {
    child.kill('SIGKILL')
    await exited
  }
  try {
    const port = Number((await heard('LISTENING ')).split(' ')[1])
    await heard('CONNECTED')
    return { port, heard, kill }
  } catch (error) {
    await kill()
    throw error
  }
}

/** The folder of the program. Throws when it can not be had. */
export async function dtlsProxyProgram(): Promise<string> {
  const files = ['DtlsProxy.java', 'pom.xml']
  const hash = createHash('sha256')
  for (const file of files) hash.update(await readFile(join(SOURCE, file)))
  return installOnce(`dtls-proxy-${hash.digest('hex').slice(0, HASH_DIGITS)}`, async (target) => {
    for (const file of files) await copyFile(join(SOURCE, file), join(target, file))
    await runInstaller('mvn', ['-q', '-B', COPY, `-DoutputDirectory=${join(target, 'lib')}`], { folder: target })
    await runInstaller('javac', ['-encoding', 'UTF-8', '-cp', join('lib', '*'), 'DtlsProxy.java'], { folder: target })
  })
}
