/** Runs a part of a benchmark as a process of its own, which answers with one line. */
import { spawn, type ChildProcess } from 'node:child_process'
import { createInterface } from 'node:readline'

/** Starts `script` and resolves with its first line, parsed; the process then ends by itself. `flags` are the runtime's. */
export async function lineOf<Result>(script: string, options: object, flags: readonly string[] = []): Promise<Result> {
  const line = [...flags, script, JSON.stringify(options)]
  const child = spawn(process.execPath, line, { stdio: ['ignore', 'pipe', 'inherit'] })
  return JSON.parse(await firstLine(child)) as Result
}

/** Throws where the process ends without a line. */
export async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error('no standard output')
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('the process ended without a line')
}
