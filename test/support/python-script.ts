/** A client in Python, unchanged, against a server of its own: the script's parts, a line each (`test/clients/parts.py`). */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { requireTool } from './require-tool.ts'
import { PROJECT_ROOT, startMillrace } from './start-millrace.ts'

const LIMIT_MS = 500_000

/** `parts` is how many of them there are: all must have gone well. */
export async function runPythonScript(
  context: TestContext,
  options: {
    readonly python: () => Promise<string>
    readonly script: string
    readonly parts: number
    /** Of the port that it is told beside the one for REST. */
    readonly protocol?: 'mqtt' | 'coap'
  },
): Promise<void> {
  if (!requireTool(context, 'python3')) return
  const python = await options.python()
  const millrace = await startMillrace()
  context.after(() => millrace.stop())
  const script = join(PROJECT_ROOT, 'test', 'clients', options.script)
  // -B: it leaves no compiled files beside the sources.
  const parameters = ['-B', script, millrace.url, String(millrace.ports[options.protocol ?? 'mqtt'] ?? 0)]
  const client = spawn(python, parameters, { stdio: ['ignore', 'pipe', 'pipe'], timeout: LIMIT_MS })
  let output = ''
  for (const stream of [client.stdout, client.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  const [code] = (await once(client, 'close')) as [number | null]
  assert.equal(code, 0, output)
  assert.equal(output.match(/^ok /gm)?.length, options.parts, output)
}
