/**
 * Installs a server once into a folder that git ignores. Test files that start at once do not install it twice, and none sees
 * half of it: one holds the lock and installs beside the target, and a rename makes it visible whole.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'

export const CACHE_FOLDER = resolve(import.meta.dirname, '..', '..', '..', '.tools', 'servers')

const INSTALL_MS = 10 * 60_000

/**
 * Resolves with the folder that holds what `fill` made in it. `name` carries the version: another version is another folder.
 * Throws what `fill` throws, and leaves nothing then.
 */
export async function installOnce(
  name: string,
  fill: (folder: string) => Promise<unknown>,
  cacheFolder = CACHE_FOLDER,
): Promise<string> {
  const target = join(cacheFolder, name)
  if (await exists(target)) return target
  await mkdir(cacheFolder, { recursive: true })
  const release = await lock(`${target}.lock`)
  let beside: string | undefined
  try {
    if (await exists(target)) return target
    process.stderr.write(`installing ${name} (once) …\n`)
    const began = performance.now()
    beside = await mkdtemp(join(cacheFolder, 'installing-'))
    await fill(beside)
    await renameUnlessThere(beside, target)
    process.stderr.write(`installed ${name} in ${((performance.now() - began) / 1000).toFixed(1)} s\n`)
    return target
  } finally {
    if (beside !== undefined) await rm(beside, { recursive: true, force: true })
    await release()
  }
}

/** Runs an installer's command; throws with its output when it fails. */
export async function runInstaller(
  command: string,
  parameters: readonly string[],
  options: {
    readonly folder: string
    readonly user?: { readonly uid: number; readonly gid: number }
    /** Beside this process's. */
    readonly environment?: Readonly<Record<string, string>>
  },
): Promise<string> {
  const child = spawn(command, parameters, {
    cwd: options.folder,
    env: { ...process.env, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: INSTALL_MS,
    ...options.user,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-16_384)
    })
  }
  const [code, signal] = (await once(child, 'close')) as [number | null, string | null]
  if (code !== 0) throw new Error(`${command} ${parameters.join(' ')} ended with ${code ?? signal}:\n${output}`)
  return output
}

async function lock(file: string): Promise<() => Promise<void>> {
  for (;;) {
    try {
      await mkdir(dirname(file), { recursive: true })
      const handle = await open(file, 'wx')
      await handle.writeFile(String(process.pid))
      await handle.close()
      return () => rm(file, { force: true })
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
    // Two that find a dead holder may both take over: then both install, and the second finds the target there.
    if (await isAbandoned(file)) await rm(file, { force: true })
    await new Promise((wait) => setTimeout(wait, 100))
  }
}

async function renameUnlessThere(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!(await exists(to))) throw error
  }
}

async function isAbandoned(file: string): Promise<boolean> {
  try {
    const holder = Number(await readFile(file, 'utf8'))
    if (holder > 0) {
      process.kill(holder, 0)
      return false
    }
    return Date.now() - (await stat(file)).mtimeMs > 5_000 // Made, and its holder's number not written yet.
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH'
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch {
    return false
  }
}
