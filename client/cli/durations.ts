/** Write what a single step took: below a second in milliseconds. */
export function toStepText(milliseconds: number): string {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : toDurationText(milliseconds / 1000);
}

/** Write a time as people say it: `4.2 s`, `38 s`, `3 min 20 s`, `2 h 5 min`. */
export function toDurationText(seconds: number): string {
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
}
