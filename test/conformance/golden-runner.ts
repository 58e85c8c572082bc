/** Runs the recordings' own programs. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, open, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { threadArguments } from '../../model/thread-arguments.ts'
import { PROJECT_ROOT } from '../support/start-millrace.ts'

/**
 * What a program run in the project's folder wrote. Into a file, since these end without waiting for a pipe to be read; from this folder,
 * since they look up their packages there. They exit 1 for the cases that are not built yet.
 */
export async function runInProject(argv: readonly string[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-golden-'))
  const file = await open(join(folder, 'output'), 'w+')
  try {
    const child = spawn(process.execPath, [...threadArguments(), ...argv], {
      cwd: PROJECT_ROOT,
      stdio: ['ignore', file.fd, file.fd],
    })
    await once(child, 'exit')
    return await readFile(join(folder, 'output'), 'utf8')
  } finally {
    await file.close()
    await rm(folder, { recursive: true })
  }
}
