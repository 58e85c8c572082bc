/** The broker that many know, as a yardstick: what its bare acknowledgement of QoS 1 comes to, without storing anything. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePorts } from '../../test/support/servers/ports.ts'

export interface Mosquitto {
  readonly port: number
  close(): Promise<void>
}

/** Undefined where mosquitto is not on this machine. */
export async function startMosquitto(): Promise<Mosquitto | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-mosquitto-'))
  const [port = 0] = await freePorts(1)
  const configuration = join(folder, 'mosquitto.conf')
  await writeFile(configuration, `listener ${port} 127.0.0.1\nallow_anonymous true\n`)
  const child = spawn('mosquitto', ['-c', configuration], { stdio: 'ignore' })
  const failed = once(child, 'error').then(() => true)
  const close = async (): Promise<void> => {
    if (child.pid !== undefined && child.exitCode === null) {
      child.kill()
      await once(child, 'exit')
    }
    await rm(folder, { recursive: true, force: true })
  }
  for (let attempt = 0; attempt < 100; attempt++) {
    if (await accepts(port)) return { port, close }
    if (await Promise.race([failed, delay(50, false)])) break
  }
  await close()
  return undefined
}

function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const done = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.once('connect', done(true))
    socket.once('error', done(false))
  })
}
