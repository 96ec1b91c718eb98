// Numbers, times and names as people read them. Money comes in minor units and is never turned into a fraction.

const symbols = new Map();

function symbol(currency) {
  if (!symbols.has(currency)) {
    let found = `${currency} `;
    try {
      const parts = new Intl.NumberFormat("en", { style: "currency", currency, currencyDisplay: "narrowSymbol" }).formatToParts(0);
      found = parts.find((part) => part.type === "currency").value;
      if (/[A-Za-z]$/.test(found)) found += " ";
    } catch {
      // no currency that this browser knows: its code will do
    }
    symbols.set(currency, found);
  }
  return symbols.get(currency);
}

export function money(minor, currency, exponent, { signed = false } = {}) {
  const digits = String(Math.abs(minor)).padStart(exponent + 1, "0");
  const whole = digits.slice(0, digits.length - exponent).replace(/\B(?=(\d{3})+$)/g, ",");
  const part = exponent ? `.${digits.slice(-exponent)}` : "";
  const sign = minor < 0 ? "−" : signed && minor > 0 ? "+" : "";
  return `${sign}${symbol(currency)}${whole}${part}`;
}

export function age(ms) {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

export function clock(ms) {
  return `${new Date(ms).toISOString().slice(11, 19)} UTC`;
}

export function words(code) {
  return code.replaceAll("-", " ").replaceAll("_", " ");
}

export function title(code) {
  return words(code).replace(/(^|\s)\S/g, (letter) => letter.toUpperCase());
}

export function plural(number, one) {
  return `${number.toLocaleString("en")} ${one}${number === 1 ? "" : "s"}`;
}

export const WINNERS = { player: "Player", banker: "Banker", tie: "Tie" };
export const LETTERS = { P: "player", B: "banker", T: "tie", "": "void" };
