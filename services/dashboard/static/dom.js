// Small ways to build and change elements. Text is always set as text: what a table says is never taken for markup.

export function el(name, className = "", ...children) {
  const element = document.createElement(name);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

export function text(element, words) {
  if (element.textContent !== words) element.textContent = words;
}

export function attribute(element, key, value) {
  if (value === null || value === undefined || value === false) element.removeAttribute(key);
  else if (element.getAttribute(key) !== String(value)) element.setAttribute(key, value);
}

// Makes the children of `parent` as many as there are items, each filled by `fill(child, item)`.
export function fill(parent, items, make, update) {
  while (parent.children.length > items.length) parent.lastElementChild.remove();
  while (parent.children.length < items.length) parent.append(make());
  items.forEach((item, place) => update(parent.children[place], item, place));
}
