/** Adds numbers as they are written: 0.1 and 0.2 are 0.3. */
export class DecimalSum {
  private digits = 0n
  /** How many of them stand behind the point. */
  private places = 0

  add(value: number): void {
    const { digits, places } = decimalOf(value)
    const common = Math.max(places, this.places)
    this.digits = shifted(this.digits, common - this.places) + shifted(digits, common - places)
    this.places = common
  }

  get value(): number {
    return Number(`${this.digits}e-${this.places}`)
  }
}

function decimalOf(value: number): { readonly digits: bigint; readonly places: number } {
  const [mantissa = '0', exponent = '0'] = String(value).split('e')
  const [whole = '0', fraction = ''] = mantissa.split('.')
  const places = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return places < 0 ? { digits: shifted(digits, -places), places: 0 } : { digits, places }
}

function shifted(digits: bigint, by: number): bigint {
  return digits * 10n ** BigInt(by)
}
