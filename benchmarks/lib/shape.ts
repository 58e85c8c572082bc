/** The shapes in which a benchmark may run Millrace: the embedded default, or with real servers beside it on the same machine. */
import { startMillrace, type RunningMillrace } from '../../test/support/start-millrace.ts'

export interface RunningShape {
  readonly millrace: RunningMillrace
  close(): Promise<void>
}

export async function startShape(name: string): Promise<RunningShape> {
  if (name !== 'embedded') throw new Error(`no shape ${name}`)
  const millrace = await startMillrace()
  return { millrace, close: async () => void (await millrace.stop()) }
}
