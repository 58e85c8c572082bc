/** What is refused of rule chains; the texts are the reference's (`rest-api.md` 2.4, 8). */
import { defineErrors } from '../../model/errors.ts'

const BAD_REQUEST = { kind: 'invalid', status: 400, restCode: 31 } as const

export const RuleChainErrors = defineErrors('rule-chain', {
  NO_ENGINE_HERE: {
    kind: 'invalid',
    status: 404,
    text: 'The rule engine does not run in this process: ask one that has it',
  },
  NOT_RUNNING: { kind: 'invalid', status: 404, text: 'Rule chain {ruleChainId} is not running here' },
  SELF_RELATION: { ...BAD_REQUEST, text: "Can't create the relation to yourself." },
  CYCLE: { ...BAD_REQUEST, text: "Can't create circling relations in rule chain." },
  INDEX_OUT_OF_RANGE: {
    ...BAD_REQUEST,
    text: '{field} {index} is not the place of a node: the chain has {count} nodes',
  },
  RELATION_EMPTY: { ...BAD_REQUEST, text: 'The connection from node {from} to node {to} has no type' },
  CONFIGURATION_INVALID: { ...BAD_REQUEST, text: "'{name}' node configuration is invalid: {reason}" },
  CONFIGURATION_NULL: { ...BAD_REQUEST, text: 'HV000116: The object to be validated must not be null.' },
  CHAIN_ID_MISSING: { ...BAD_REQUEST, text: 'Invalid entity id' },
  QUEUE_UNKNOWN: { ...BAD_REQUEST, text: "Rule node '{name}' names a queue that does not exist: {queueName}" },
  ROOT_EXISTS: { ...BAD_REQUEST, text: 'Another root rule chain is present in scope of current tenant!' },
  ROOT_DELETE: { ...BAD_REQUEST, text: 'Deletion of Root Tenant Rule Chain is prohibited!' },
  NOT_A_CORE_CHAIN: { ...BAD_REQUEST, text: 'Only a CORE rule chain can be the root rule chain!' },
  IMPORT_NAMES_NOTHING: { ...BAD_REQUEST, text: 'metadata.{index}.ruleChainId names none of the ruleChains' },
  IMPORT_WITHOUT_ID: { ...BAD_REQUEST, text: 'ruleChains.{index}.id is missing or the same as that of another' },
  SECRET_MASKED: { kind: 'invalid', status: 400, text: "'{member}' is masked: fill in the secret and save the node" },
  SCRIPT_TYPE: { ...BAD_REQUEST, text: 'Unsupported script type: {type}' },
  NOT_IMPORTED: { ...BAD_REQUEST, text: 'Not imported, as another rule chain of the file can not be' },
  VERSION_UNKNOWN: { kind: 'invalid', status: 404, text: 'The rule chain has no such version' },
})
