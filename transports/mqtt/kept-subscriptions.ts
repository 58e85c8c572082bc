/** Subscriptions of a session as a text that outlives the program: filters by their own texts, as numbers may mean others one day. */
import type { MqttConnection } from './connection.ts'
import { CUSTOM_ATTRIBUTE_FILTER, FILTERS, filterIndex, isAttributeFilter, isCallFilter } from './topics.ts'

export type KeptSubscriptions = Pick<
  MqttConnection,
  'subscriptions' | 'grantedQos1' | 'attributeFilters' | 'customAttributeFilter' | 'callFilters'
>

const INDEXES = [...FILTERS.keys(), CUSTOM_ATTRIBUTE_FILTER]

/** `[filter, QoS]` of each; those whose order counts in that order. */
export function subscriptionsText(session: KeptSubscriptions): string {
  const { subscriptions, grantedQos1, attributeFilters, callFilters, customAttributeFilter } = session
  const others = INDEXES.filter(
    (index) => (subscriptions & (1 << index)) !== 0 && !isAttributeFilter(index) && !isCallFilter(index),
  )
  const texts = [...others, ...attributeFilters, ...callFilters].map((index) => [
    index === CUSTOM_ATTRIBUTE_FILTER ? customAttributeFilter : FILTERS[index],
    (grantedQos1 & (1 << index)) === 0 ? 0 : 1,
  ])
  return JSON.stringify(texts)
}

/** A filter that this program does not know is the profile's. */
export function subscriptionsOf(text: string): KeptSubscriptions {
  const parsed: unknown = JSON.parse(text)
  let subscriptions = 0
  let grantedQos1 = 0
  let customAttributeFilter: string | undefined
  const indexes: number[] = []
  for (const element of Array.isArray(parsed) ? (parsed as unknown[]) : []) {
    const [filter, qos] = Array.isArray(element) ? (element as unknown[]) : []
    if (typeof filter !== 'string') continue
    const index = filterIndex(filter) ?? CUSTOM_ATTRIBUTE_FILTER
    if (index === CUSTOM_ATTRIBUTE_FILTER) customAttributeFilter = filter
    indexes.push(index)
    subscriptions |= 1 << index
    if (qos === 1) grantedQos1 |= 1 << index
  }
  return {
    ...{ subscriptions, grantedQos1, customAttributeFilter },
    attributeFilters: indexes.filter(isAttributeFilter),
    callFilters: indexes.filter(isCallFilter),
  }
}
