/** A real broker for tests: mosquitto, where it is installed. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { skipUnless } from './require-tool.ts'
import { freePorts } from './servers/ports.ts'

export interface Mosquitto {
  readonly port: number
  close(): Promise<void>
}

function hasMosquitto(): boolean {
  return (
    spawnSync('mosquitto', ['-h'], { env: { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` } })
      .error === undefined
  )
}

/** As `skipUnless`. */
export function skipWithoutMosquitto(): string | false {
  return skipUnless(hasMosquitto(), 'mosquitto')
}

/** Takes `user` with `password` and anonymous clients, unless `login` says that it takes no anonymous ones. `fixed`: its port, where a former one had it. */
export async function startMosquitto(
  login?: { readonly user: string; readonly password: string },
  fixed?: number,
): Promise<Mosquitto> {
  const folder = await mkdtemp(path.join(tmpdir(), 'mosquitto-'))
  const [port = 0] = fixed === undefined ? await freePorts(1) : [fixed]
  const env = { ...process.env, PATH: `${process.env['PATH'] ?? ''}:/usr/sbin` }
  const lines = [`listener ${port} 127.0.0.1`, `allow_anonymous ${login === undefined}`, 'persistence false']
  // Started by root it would change to a user who can not read the file.
  if (process.getuid?.() === 0) lines.push('user root')
  if (login !== undefined) {
    const file = path.join(folder, 'passwords')
    spawnSync('mosquitto_passwd', ['-b', '-c', file, login.user, login.password], { env })
    lines.push(`password_file ${file}`)
  }
  await writeFile(path.join(folder, 'mosquitto.conf'), `${lines.join('\n')}\n`)
  const broker = spawn('mosquitto', ['-c', path.join(folder, 'mosquitto.conf')], { env, stdio: 'ignore' })
  await listening(port)
  return {
    port,
    close: async () => {
      broker.kill()
      if (broker.exitCode === null && broker.signalCode === null) await once(broker, 'exit')
      await rm(folder, { recursive: true })
    },
  }
}

async function listening(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1')
    try {
      await once(socket, 'connect')
      socket.destroy()
      return
    } catch {
      // Not there yet.
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
  }
}
