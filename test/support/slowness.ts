/** `SLOWNESS=3`: what has to happen in a time may take three times as long, where others use the machine too. */
export const SLOWNESS = Number(process.env['SLOWNESS'] ?? 1)
