/** The official Python clients of the platform whose API this server speaks, and a fuzzer of API descriptions: installed once. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { installOnce, runInstaller } from './servers/install.ts'

const PACKAGES = ['tb-rest-client==4.4', 'paho-mqtt==2.2.0', 'schemathesis==4.32.5'] as const

/**
 * The path of a Python that has them; its own programs name the folder in which they were installed, so run modules (`-m schemathesis`).
 * Throws when they can not be had.
 */
export async function pythonClients(): Promise<string> {
  const name = `python-clients-${PACKAGES.map((item) => item.split('==')[1]).join('-')}`
  const folder = await installOnce(name, async (target) => {
    await writeFile(join(target, 'requirements.txt'), `${PACKAGES.join('\n')}\n`)
    await runInstaller('python3', ['-m', 'venv', '--copies', 'environment'], { folder: target })
    const python = join('environment', 'bin', 'python3')
    await runInstaller(python, ['-m', 'pip', 'install', '--quiet', '-r', 'requirements.txt'], { folder: target })
  })
  return join(folder, 'environment', 'bin', 'python3')
}
