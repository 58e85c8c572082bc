/**
 * Tries again to make the nodes that could not be made for a passing reason, such as script workers that did not answer:
 * after 5 s × attempt, at most 10 times (`rule-engine.md` 4.3). Meanwhile their messages fail as `retryable`.
 */
import type { Clock } from '../../model/clock.ts'
import { isMillraceError } from '../../model/errors.ts'
import type { CompiledNode } from './compiled-node.ts'
import { makeInstance } from './compile.ts'
import type { CompileInput } from './compile.ts'
import type { EngineLog } from './node-context.ts'
import type { ChainProgram } from './program.ts'

const BASE_DELAY_MS = 5000
const MAX_ATTEMPTS = 10

export function startLateNodes(
  program: ChainProgram,
  input: CompileInput,
  { clock, log }: { readonly clock: Clock; readonly log: EngineLog },
): void {
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
    const fields = { ruleChainId: program.chainId, ruleNodeId: node.record.id, ruleNode: node.record.name, attempt }
    if (program.isRetired) {
      void node.instance?.close?.()
    } else if (node.instance !== undefined) {
      program.attach(node)
      log('info', 'a rule node that could not be made before runs now', fields)
    } else if (isPassing(node) && attempt < MAX_ATTEMPTS) {
      retry(node, attempt + 1)
    } else {
      log('error', 'a rule node could not be made; it is not tried again', { ...fields, reason: node.failure?.message })
    }
  }
}

function isPassing(node: CompiledNode): boolean {
  return isMillraceError(node.failure) && node.failure.kind === 'retryable'
}
