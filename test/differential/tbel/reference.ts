/** The real library behind a line protocol: fetched by Maven once into `.tools/`, run in one Java process for all scripts. */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join, resolve } from 'node:path'
import { createInterface } from 'node:readline'

const VERSION = '1.2.9'
const home = resolve(import.meta.dirname, '../../../.tools/tbel')
const jar = join(home, `tbel-${VERSION}.jar`)
const runner = resolve(import.meta.dirname, 'TbelRunner.java')

const POM = `<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>millrace</groupId><artifactId>differential</artifactId><version>1</version>
<dependencies><dependency><groupId>org.thingsboard</groupId><artifactId>tbel</artifactId><version>${VERSION}</version></dependency></dependencies>
</project>`

/** Fetches and compiles what is missing; a text says why that failed. */
export function prepareReference(): string | undefined {
  mkdirSync(join(home, 'classes'), { recursive: true })
  if (!existsSync(jar)) {
    writeFileSync(join(home, 'pom.xml'), POM)
    const fetched = spawnSync('mvn', ['-q', '-B', 'dependency:copy-dependencies', `-DoutputDirectory=${home}`], {
      cwd: home,
      timeout: 300_000,
    })
    if (fetched.status !== 0 || !existsSync(jar))
      return `Maven could not fetch the library: ${fetched.stdout.toString().slice(0, 500)}`
  }
  const compiled = spawnSync('javac', ['-encoding', 'UTF-8', '-cp', jar, '-d', join(home, 'classes'), runner], {
    timeout: 120_000,
  })
  return compiled.status === 0 ? undefined : `javac failed: ${compiled.stderr.toString().slice(0, 500)}`
}

/** The library's answers to JSON lines, in their order. */
export async function askReference(lines: readonly string[]): Promise<string[]> {
  const java = spawn(
    'java',
    ['-XX:TieredStopAtLevel=1', '-cp', [jar, join(home, 'classes')].join(delimiter), 'TbelRunner'],
    {
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  const ended = new Promise<number | null>((settle, fail) => java.once('close', settle).once('error', fail))
  java.stdin.end(lines.map((line) => `${line}\n`).join(''))
  const answers: string[] = []
  for await (const line of createInterface({ input: java.stdout })) answers.push(line)
  const code = await ended
  if (code !== 0 || answers.length !== lines.length)
    throw new Error(`the library answered ${answers.length} of ${lines.length} scripts, exit code ${code}`)
  return answers
}
