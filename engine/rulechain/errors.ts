/** Errors of rule chains: what a saved graph may not be, and why a message could not go on. */
import { MillraceError, defineErrors, errorText, isMillraceError } from '../../model/errors.ts'

export const RuleChainErrors = defineErrors('rulechain', {
  NODE_INDEX: { kind: 'invalid', status: 400, text: '{field} {index} names no node: the chain has {count}' },
  SELF_CONNECTION: { kind: 'invalid', status: 400, text: "Can't create the relation to yourself: node '{node}'" },
  CYCLE: { kind: 'invalid', status: 400, text: 'Rule chain has circling relations: {path}' },
  NODE_TYPE_UNKNOWN: { kind: 'invalid', status: 400, text: "Rule node '{node}' has the unknown type '{type}'" },
  NODE_DISABLED: { kind: 'terminal', status: 500, text: "Rule node '{node}' is disabled: {reason}" },
  NODE_INIT_FAILED: { kind: 'terminal', status: 500, text: "Failed to initialise rule node '{node}': {reason}" },
  NODE_STARTING: { kind: 'retryable', status: 503, text: "Rule node '{node}' is not started yet: {reason}" },
  CAPABILITY_MISSING: { kind: 'terminal', status: 500, text: "There is no '{capability}' here for rule nodes" },
  NODE_SILENT: {
    kind: 'retryable',
    status: 500,
    text: "Rule node '{node}' finished a batch without an outcome for this message",
  },
  NODE_TIMEOUT: {
    kind: 'retryable',
    isTimeout: true,
    status: 503,
    text: "Rule node '{node}' gave no outcome within {limit} ms",
  },
  NODE_EMITTED_FAILURE: { kind: 'terminal', status: 500, text: 'the node emitted Failure' },
  TOO_MANY_EXECUTIONS: {
    kind: 'terminal',
    status: 500,
    text: "Message is processed by more than {limit} rule nodes; the next was '{node}' of chain '{chain}'",
  },
  CHAIN_LOOP: {
    kind: 'invalid',
    status: 400,
    text: 'Rule chain loop: the message would enter chain {ruleChainId} from here a second time',
  },
  CHAIN_MISSING: { kind: 'terminal', status: 404, text: 'There is no rule chain {ruleChainId} of tenant {tenantId}' },
  NO_ROOT_CHAIN: { kind: 'terminal', status: 404, text: 'Tenant {tenantId} has no root rule chain' },
  CHAIN_FAILED: { kind: 'terminal', status: 500, text: "Rule chain '{chain}' can not run: {reason}" },
  CHAIN_NOT_DRAWN: {
    kind: 'retryable',
    status: 503,
    text: "Rule chain '{chain}' has no saved nodes: save it, even empty, or its messages become dead letters",
  },
  CHAIN_FULL: {
    kind: 'retryable',
    isOutage: true,
    isOwnLimit: true,
    status: 503,
    text: "Rule chain '{chain}' has {waiting} messages waiting, at most {limit}",
  },
  NOTHING_DEFERRED: { kind: 'terminal', status: 500, text: 'there is nothing that keeps messages for later' },
  CLOSED: { kind: 'retryable', isOutage: true, status: 503, text: 'the rule engine is closed' },
})

const UNKNOWN_CAUSE = { kind: 'retryable', isOutage: false, isOwnLimit: false, isTimeout: false } as const

/**
 * The error with which a message ends when a node failed and nothing is connected to its `Failure`: names the chain and the
 * node, keeps the cause and its kind, so that the queue knows whether trying again can help, and whose fault it is.
 */
export function unhandledFailure(chain: string, node: string, cause: unknown): MillraceError {
  const { kind, isOutage, isOwnLimit, isTimeout } = isMillraceError(cause) ? cause : UNKNOWN_CAUSE
  const fields = { chain, node, reason: errorText(cause) }
  return new MillraceError(
    'rulechain.NODE_FAILED',
    { kind, isOutage, isOwnLimit, isTimeout, status: 500, text: "Rule chain '{chain}', node '{node}': {reason}" },
    fields,
    cause,
  )
}
