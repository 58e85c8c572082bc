/** Of those who ask for the same at the same time one reads: a batch of messages of one device asks once. Nothing is kept after that. */
export class SharedReads<Value> {
  private readonly underWay = new Map<string, Promise<Value>>()

  read(key: string, load: () => Promise<Value>): Promise<Value> {
    const known = this.underWay.get(key)
    if (known !== undefined) return known
    const reading = load().finally(() => this.underWay.delete(key))
    this.underWay.set(key, reading)
    return reading
  }
}
