/** What a device sends at a time of its own: the time tells the values, so that whoever reads them back knows what they must be. */
export const KEYS = ['temperature', 'humidity', 'pressure'] as const
export type Key = (typeof KEYS)[number]

export function valuesAt(time: number): Readonly<Record<Key, number>> {
  return { temperature: (time % 400) / 10, humidity: time % 100, pressure: 1000 + (time % 50) }
}
