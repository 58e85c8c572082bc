/**
 * A load generator that others wrote (Go), where its source lies beside this checkout and Go is here: what it counts as stored, by its
 * own reading, holds our own generator to account.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DEMO_TENANT } from '../../test/support/clients.ts'
import { PROJECT_ROOT, type RunningMillrace } from '../../test/support/start-millrace.ts'
import type { Case } from './measure.ts'

export interface SecondMeasured {
  readonly pointsPerSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
}

const SOURCE = join(PROJECT_ROOT, '..', 'shared', 'load')
const DEVICES = 100

/** The program; undefined where it can not be had. */
export function buildSecondGenerator(): string | undefined {
  const program = join(PROJECT_ROOT, '.tools', 'load')
  if (!existsSync(SOURCE) || spawnSync('go', ['version']).status !== 0) return undefined
  mkdirSync(join(PROJECT_ROOT, '.tools'), { recursive: true })
  const { status, stderr } = spawnSync('go', ['build', '-C', SOURCE, '-o', program, '.'], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the second generator can not be built: ${stderr}`)
  return program
}

export async function measureWithSecond(
  program: string,
  millrace: RunningMillrace,
  { protocol, window }: Case,
  seconds: number,
): Promise<SecondMeasured> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-load-'))
  try {
    const tokens = join(folder, 'tokens')
    const place = [
      '-base',
      millrace.url,
      '-user',
      DEMO_TENANT.username,
      '-pass',
      DEMO_TENANT.password,
      '-tokens',
      tokens,
    ]
    run(program, ['devices', '-n', String(DEVICES), ...place])
    const load = ['-d', `${seconds}s`, '-ts', '-verify']
    const own =
      protocol === 'http'
        ? ['-c', String(DEVICES)]
        : ['-mqtt', `127.0.0.1:${millrace.ports['mqtt'] ?? 0}`, '-window', String(window)]
    const output = run(program, [protocol, ...place, ...load, ...own])
    const stored = figure(output, 'stored messages')
    const accepted = figure(output, 'accepted')
    if (stored !== accepted) throw new Error(`void: the second generator counts ${stored} of ${accepted}:\n${output}`)
    return {
      pointsPerSecond: figure(output, 'stored_points_per_s'),
      p50Ms: figure(output, 'p50_ms'),
      p99Ms: figure(output, 'p99_ms'),
    }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

/** Messages a second that a broker acknowledges which stores nothing. */
export function acknowledgedToSecond(program: string, port: number, { window }: Case, seconds: number): number {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-load-'))
  try {
    const tokens = join(folder, 'tokens')
    writeFileSync(tokens, Array.from({ length: DEVICES }, (_, index) => `- BENCH_${index}\n`).join(''))
    const load = ['-window', String(window), '-d', `${seconds}s`, '-ts']
    return figure(run(program, ['mqtt', '-tokens', tokens, '-mqtt', `127.0.0.1:${port}`, ...load]), 'acks_per_s')
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function run(program: string, parameters: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(program, parameters, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`the second generator failed (${status}): ${stdout}${stderr}`)
  return stdout
}

function figure(output: string, name: string): number {
  const found = new RegExp(`${name}=([\\d.]+)`).exec(output)?.[1]
  if (found === undefined) throw new Error(`the second generator tells no ${name}:\n${output}`)
  return Number(found)
}
