/** Figures of a program that runs, as Prometheus reads them. */
import assert from 'node:assert/strict'
import type { RunningMillrace } from './start-millrace.ts'

/** A figure of `/metrics`, of one process. Throws where there is none of that name: a misspelt one is no zero. */
export async function figure({ url }: RunningMillrace, name: string): Promise<number> {
  const figures = await (await fetch(`${url}/metrics`)).text()
  const found = new RegExp(`^${name} (\\S+)$`, 'm').exec(figures)
  assert.ok(found !== null, `there is no figure ${name}`)
  return Number(found[1])
}
