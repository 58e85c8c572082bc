/** RabbitMQ, where the system's package of it is installed: one node with data, names and ports of its own. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { connect as connectSocket } from 'node:net'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runServer, type PlaceOptions, type ServerDefinition } from './running-server.ts'
import type { RunningServer } from './server.ts'

/** Debian's program beside it changes to a user of its own. */
const PROGRAM = '/usr/lib/rabbitmq/bin/rabbitmq-server'
const AMQP_HEADER = Buffer.from('AMQP\0\0\x09\x01', 'latin1')

/** The user is guest with the password guest. */
export function startRabbitMq(options: PlaceOptions = {}): Promise<RunningServer> {
  return runServer(definition(), options)
}

export function canRunRabbitMq(): boolean {
  return existsSync(PROGRAM) && spawnSync('sh', ['-c', 'command -v erl']).status === 0
}

function definition(): ServerDefinition {
  return {
    name: 'rabbitmq',
    portCount: 2,
    url: ([port]) => `amqp://127.0.0.1:${port}`,
    answers: ([port = 0]) => greets(port),
    prepare: async (folders, [port = 0, cluster = 0]) => {
      const plugins = join(folders.work, 'enabled_plugins')
      const configuration = join(folders.work, 'rabbitmq.conf')
      const script = join(folders.work, 'start.sh')
      await writeFile(plugins, '[].\n')
      await writeFile(configuration, `listeners.tcp.1 = 127.0.0.1:${port}\n`)
      const settings = {
        HOME: folders.data,
        RABBITMQ_NODENAME: `test-${port}@localhost`,
        // A registry of names of its own, which ends with it.
        ERL_EPMD_PORT: String(cluster + 1),
        RABBITMQ_DIST_PORT: String(cluster),
        RABBITMQ_CONFIG_FILE: configuration,
        RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
        RABBITMQ_MNESIA_BASE: folders.data,
        RABBITMQ_LOG_BASE: folders.work,
        RABBITMQ_PID_FILE: join(folders.work, 'pid'),
        RABBITMQ_CONF_ENV_FILE: '/dev/null',
      }
      const lines = Object.entries(settings).map(([name, value]) => `export ${name}='${value}'`)
      await writeFile(script, ['#!/bin/sh', ...lines, `exec ${PROGRAM}`, ''].join('\n'))
      await chmod(script, 0o755)
      return { command: script, parameters: [], endSignal: 'SIGTERM' }
    },
  }
}

/** It answers the header of the protocol with its first frame. */
function greets(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(AMQP_HEADER))
    const done = (answer: boolean) => () => {
      socket.destroy()
      resolve(answer)
    }
    socket.setTimeout(1_000, done(false))
    socket.once('error', done(false))
    socket.once('data', done(true))
  })
}
