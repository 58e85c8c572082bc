/** A real client of LwM2M: Eclipse Leshan's library from Maven Central with a small program on it, installed and compiled once. */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFile, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { TestContext } from 'node:test'
import { hasTool, requireTool } from './require-tool.ts'
import { installOnce, runInstaller } from './servers/install.ts'

const SOURCE = join(import.meta.dirname, 'leshan')
const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy-dependencies'
const HASH_DIGITS = 12

const TOOLS = ['java', 'javac', 'mvn']

export function canRunLeshan(): boolean {
  return TOOLS.every(hasTool)
}

/** False when the test was skipped because one of its tools is absent; with REQUIRE_REAL=1 that is a failure. */
export function requireLeshan(context: TestContext): boolean {
  return TOOLS.every((tool) => requireTool(context, tool))
}

/** The class path of the program. Throws when it can not be had. */
export async function leshanClient(): Promise<string> {
  const files = ['Client.java', 'pom.xml']
  const hash = createHash('sha256')
  for (const file of files) hash.update(await readFile(join(SOURCE, file)))
  const name = `leshan-client-${hash.digest('hex').slice(0, HASH_DIGITS)}`
  const folder = await installOnce(name, async (target) => {
    for (const file of files) await copyFile(join(SOURCE, file), join(target, file))
    await runInstaller('mvn', ['-q', '-B', COPY, `-DoutputDirectory=${join(target, 'lib')}`], { folder: target })
    await runInstaller('javac', ['-encoding', 'UTF-8', '-cp', join('lib', '*'), 'Client.java'], { folder: target })
  })
  return `${folder}:${join(folder, 'lib', '*')}`
}

export interface LeshanClient {
  /** A line to the program. */
  tell(line: string): void
  /** Resolves once it said this, after what was heard before. Rejects where it ends without. */
  heard(line: string): Promise<void>
  /** What it says first of what begins with one of these. Rejects likewise. */
  heardFirst(beginnings: readonly string[]): Promise<string>
  /** Ends it; resolves when it is gone. */
  kill(): Promise<void>
}

/**
 * `proof`: what it shows in a DTLS handshake, as the program takes it, behind `bootstrap` where the port is a bootstrap server's; without one
 * it speaks plain CoAP.
 */
export async function startLeshanClient(
  endpoint: string,
  port: number,
  proof: readonly string[] = [],
): Promise<LeshanClient> {
  const classPath = await leshanClient()
  const isPlain = proof.every((each) => each === 'bootstrap')
  const address = `${isPlain ? 'coap' : 'coaps'}://127.0.0.1:${port}`
  const child = spawn('java', ['-cp', classPath, 'Client', endpoint, address, ...proof], {
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  let complaints = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaints = (complaints + text).slice(-4096)))
  const lines: AsyncIterator<string, undefined> = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const heard = async (isWanted: (line: string) => boolean, wanted: string): Promise<string> => {
    for (;;) {
      const { value, done } = await lines.next()
      if (done === true) throw new Error(`the client ended before it said '${wanted}':\n${complaints}`)
      if (isWanted(value)) return value
    }
  }
  return {
    tell: (line) => void child.stdin.write(`${line}\n`),
    heard: async (wanted) => {
      await heard((line) => line === wanted, wanted)
    },
    heardFirst: (beginnings) =>
      heard((line) => beginnings.some((each) => line.startsWith(each)), beginnings.join("' or '")),
    kill: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}
