/** The default root chain (`rule-engine.md` 3.6): saves telemetry and client attributes, logs the rest. */
import type { GraphDraft, NodeDraft } from './drafts.ts'

export const ROOT_RULE_CHAIN_NAME = 'Root Rule Chain'
export const EDGE_ROOT_RULE_CHAIN_NAME = 'Edge Root Rule Chain'

const PREFIX = 'org.thingsboard.rule.engine.'
const LOG_SCRIPT =
  "return '\\nIncoming message:\\n' + JSON.stringify(msg) + '\\nIncoming metadata:\\n' + JSON.stringify(metadata);"
const LOG = { scriptLang: 'TBEL', jsScript: LOG_SCRIPT, tbelScript: LOG_SCRIPT }

export function defaultGraph(ruleChainId: string): GraphDraft {
  return {
    ruleChainId,
    firstNodeIndex: 2,
    nodes: [
      node('Save Timeseries', 'telemetry.TbMsgTimeseriesNode', 1, [824, 156], {
        defaultTTL: 0,
        useServerTs: false,
        processingSettings: { type: 'ON_EVERY_MESSAGE' },
      }),
      node('Save Client Attributes', 'telemetry.TbMsgAttributesNode', 3, [825, 52], {
        processingSettings: { type: 'ON_EVERY_MESSAGE' },
        scope: 'CLIENT_SCOPE',
        notifyDevice: false,
        sendAttributesUpdatedNotification: false,
        updateAttributesOnlyOnValueChange: true,
      }),
      node('Message Type Switch', 'filter.TbMsgTypeSwitchNode', 0, [347, 149], { version: 0 }),
      node('Log RPC from Device', 'action.TbLogNode', 0, [825, 266], { ...LOG }),
      node('Log Other', 'action.TbLogNode', 0, [825, 379], { ...LOG }),
      node('RPC Call Request', 'rpc.TbSendRPCRequestNode', 0, [825, 468], { timeoutInSeconds: 60 }),
    ],
    connections: [
      { fromIndex: 2, toIndex: 0, type: 'Post telemetry' },
      { fromIndex: 2, toIndex: 1, type: 'Post attributes' },
      { fromIndex: 2, toIndex: 3, type: 'RPC Request from Device' },
      { fromIndex: 2, toIndex: 5, type: 'RPC Request to Device' },
      { fromIndex: 2, toIndex: 4, type: 'Other' },
    ],
  }
}

function node(
  name: string,
  type: string,
  configurationVersion: number,
  [layoutX, layoutY]: readonly [number, number],
  configuration: NodeDraft['configuration'],
): NodeDraft {
  return { type: PREFIX + type, name, configurationVersion, configuration, additionalInfo: { layoutX, layoutY } }
}
