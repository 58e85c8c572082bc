/** Amazon's services as moto has them, from PyPI: queues, topics, and functions whose answers a test says beforehand. */
import { pythonMoto } from '../python-clients.ts'
import { runServer, type PlaceOptions } from './running-server.ts'
import type { RunningServer } from './server.ts'

/** Needs python3. */
export async function startMoto(options: PlaceOptions = {}): Promise<RunningServer> {
  const python = await pythonMoto()
  const url = ([port]: readonly number[]) => `http://127.0.0.1:${port}`
  return runServer(
    {
      name: 'moto',
      portCount: 1,
      url,
      // Functions would otherwise want containers.
      answers: async (ports) =>
        (await fetch(`${url(ports)}/moto-api/config`, { method: 'POST', body: '{"lambda":{"use_docker":false}}' })).ok,
      prepare: async (_folders, [port]) => ({
        command: python,
        parameters: ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)],
        endSignal: 'SIGTERM',
      }),
    },
    options,
  )
}
