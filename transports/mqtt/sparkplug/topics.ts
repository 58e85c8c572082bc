/** Topics of Sparkplug B: who says what of whom. Source: `device-api.md` 14, Sparkplug 3.0 section 4. */

export const NODE_MESSAGES = ['NBIRTH', 'NDATA', 'NCMD', 'NDEATH'] as const
export const DEVICE_MESSAGES = ['DBIRTH', 'DDATA', 'DCMD', 'DDEATH'] as const
export type MessageType = (typeof NODE_MESSAGES)[number] | (typeof DEVICE_MESSAGES)[number]

/** The names of an edge node. */
export interface NodeName {
  readonly group: string
  readonly node: string
}

export interface SparkplugTopic extends NodeName {
  readonly type: MessageType
  /** Undefined: the edge node itself. */
  readonly device: string | undefined
}

const TOPIC = /^(?:\$sparkplug\/certificates\/)?spBv1\.0\/([^/+#]+)\/([A-Z]+)\/([^/+#]+)(?:\/([^/+#]+))?$/
const FILTER = /^(?:\$sparkplug\/certificates\/)?spBv1\.0\/./
/** Before version 3 of the specification. */
const OLD_STATE = /^STATE\/./

/** Undefined where it is none. */
export function parseTopic(text: string): SparkplugTopic | undefined {
  const [, group, said, node, device] = TOPIC.exec(text) ?? []
  if (group === undefined || node === undefined) return undefined
  const type = (device === undefined ? NODE_MESSAGES : DEVICE_MESSAGES).find((each) => each === said)
  return type === undefined ? undefined : { group, node, type, device }
}

export function commandTopic({ group, node }: NodeName, device: string | undefined): string {
  return device === undefined ? `spBv1.0/${group}/NCMD/${node}` : `spBv1.0/${group}/DCMD/${node}/${device}`
}

/** The name of the device entity: that of the edge node stands before it, so that two nodes may have devices of one name. */
export function entityName({ group, node }: NodeName, device: string): string {
  return `${escaped(group)}:${escaped(node)}:${device}`
}

/** With a colon in it, node `b` of group `a:x` would have the devices of node `x:b` of group `a`. */
function escaped(name: string): string {
  return name.replace(/:|%(?=3A|25)/g, (found) => (found === ':' ? '%3A' : '%25'))
}

/** What may be subscribed to; only commands come, and those come anyway. */
export function isSparkplugFilter(filter: string): boolean {
  return FILTER.test(filter) || OLD_STATE.test(filter)
}
