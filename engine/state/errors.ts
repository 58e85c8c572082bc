/** Why a node's state can not be read or changed now, or not at all. */
import { defineErrors } from '../../model/errors.ts'

export const StateErrors = defineErrors('node-state', {
  OWNER_STALE: {
    kind: 'retryable',
    isOutage: true,
    status: 503,
    text: 'partition {partition} of the node states belongs to another process: changes under epoch {epoch} are refused',
  },
  NOT_OWNED: {
    kind: 'retryable',
    isOutage: true,
    status: 503,
    text: 'partition {partition} of the node states is not at this process',
  },
  UNAVAILABLE: {
    kind: 'retryable',
    isOutage: true,
    status: 503,
    text: 'the state of rule node {node} can not be read or stored now: {reason}',
  },
  TENANT_FULL: {
    kind: 'terminal',
    status: 429,
    text: "the tenant's rule nodes may remember {limit} bytes (NODE_STATE_TENANT_MIB), and have {bytes}: this message's state was not kept",
  },
  STATE_TOO_LARGE: {
    kind: 'terminal',
    status: 413,
    text: 'the state of rule node {node} would take {bytes} bytes, at most {limit}',
  },
  CLOSED: { kind: 'retryable', isOutage: true, status: 503, text: 'the states of nodes are closed' },
})
