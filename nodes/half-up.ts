/** Rounds half up, away from zero, by the digits that the number is written with: 1.005 is 1.01, which a product with 100 would not say. */
export function halfUp(value: number, digits: number): number {
  if (Number.isInteger(value)) return value
  const text = String(Math.abs(value))
  // Too small for the digits to matter, or so large that it is whole.
  if (text.includes('e')) return Number(value.toFixed(digits))
  return Math.sign(value) * Number(`${Math.round(Number(`${text}e${digits}`))}e-${digits}`)
}
