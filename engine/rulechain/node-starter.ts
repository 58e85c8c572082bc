/**
 * Tries again to make the nodes that could not be made for a passing reason, such as script workers that did not answer:
 * after 5 s × attempt, at most 10 times (`rule-engine.md` 4.3). Meanwhile their messages fail as `retryable`.
 */
import type { Clock } from '../../model/clock.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { CompiledNode } from './compiled-node.ts'
import { makeInstance } from './compile.ts'
import type { CompileInput } from './compile.ts'
import type { ChainProgram } from './program.ts'

const BASE_DELAY_MS = 5000
const MAX_ATTEMPTS = 10

export function startLateNodes(program: ChainProgram, clock: Clock, input: CompileInput): void {
  for (const node of program.nodes) {
    if (isPassing(node)) retry(node, 1)
  }

  function retry(node: CompiledNode, attempt: number): void {
    const timer = clock.after(BASE_DELAY_MS * attempt, () => {
      void makeInstance(node, { ...input, previous: undefined }).then(() => settled(node, attempt))
    })
    program.whenRetired(() => timer.cancel())
  }

  function settled(node: CompiledNode, attempt: number): void {
    if (node.instance !== undefined) {
      if (program.isRetired) void node.instance.close?.()
      else program.attach(node)
    } else if (isPassing(node) && attempt < MAX_ATTEMPTS && !program.isRetired) retry(node, attempt + 1)
  }
}

function isPassing(node: CompiledNode): boolean {
  return isMillraceError(node.failure) && node.failure.kind === 'retryable'
}
