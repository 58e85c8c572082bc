/**
 * Install step: fetches the official uWebSockets.js binary of this platform from the package registry, checks it against the
 * pinned hash, and unpacks it. Runs under the pinned Node as the project's postinstall; does nothing when it is already there.
 *
 * On a platform whose hash is not pinned yet, `UWS_INTEGRITY` names the hash its operator has verified.
 */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { UWS_FOLDER, UWS_PACKAGES, UWS_VERSION } from '../server/uws-packages.ts'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '..')

async function install(): Promise<void> {
  const platform = `${process.platform}-${process.arch}`
  const entry = UWS_PACKAGES[platform]
  if (entry === undefined || usesMusl()) {
    const known = Object.keys(UWS_PACKAGES).join(', ')
    return stop(
      `Millrace does not run on ${platform}${usesMusl() ? ' with musl' : ''} yet: uWebSockets.js has a binary for ${known} (glibc) only.`,
    )
  }
  const integrity = entry.integrity ?? process.env['UWS_INTEGRITY']
  if (integrity === undefined) {
    return stop(
      `Millrace has no verified hash of ${entry.name}@${UWS_VERSION} for ${platform} yet: verify the package, then set UWS_INTEGRITY=sha512-… and install again.`,
    )
  }
  const folder = join(root, UWS_FOLDER)
  const wanted = `${entry.name}@${UWS_VERSION} ${integrity}`
  if ((await readText(join(folder, 'installed'))) === wanted) return

  await mkdir(join(root, '.tools'), { recursive: true })
  const work = await mkdtemp(join(root, '.tools', 'uws-'))
  try {
    const archive = await fetchArchive(`${entry.name}@${UWS_VERSION}`, work)
    const found = `sha512-${createHash('sha512')
      .update(await readFile(archive))
      .digest('base64')}`
    if (found !== integrity) {
      return stop(
        `${entry.name}@${UWS_VERSION} does not match its pinned hash: expected ${integrity}, got ${found}. Nothing was installed.`,
      )
    }
    await run('tar', ['-xzf', archive, '-C', work])
    const unpacked = join(work, 'package')
    await writeFile(join(unpacked, 'installed'), wanted)
    await rm(folder, { recursive: true, force: true })
    await rename(unpacked, folder)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** Lets npm itself fetch, so that its registry, proxy and certificate settings count. */
async function fetchArchive(specifier: string, folder: string): Promise<string> {
  const npm = process.env['npm_execpath']
  const [command, ...leading] = npm?.endsWith('.js') === true ? [process.execPath, npm] : ['npm']
  try {
    const { stdout } = await run(
      command ?? 'npm',
      [...leading, 'pack', specifier, '--pack-destination', folder, '--silent'],
      { cwd: folder },
    )
    return join(folder, stdout.trim().split('\n').at(-1) ?? '')
  } catch (error) {
    return stop(`${specifier} could not be fetched from the package registry: ${(error as Error).message.trim()}`)
  }
}

function usesMusl(): boolean {
  if (process.platform !== 'linux') return false
  const report = process.report.getReport() as { header?: { glibcVersionRuntime?: string } }
  return report.header?.glibcVersionRuntime === undefined
}

async function readText(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

function stop(sentence: string): never {
  process.stderr.write(`\n${sentence}\n\n`)
  process.exit(1)
}

await install()
