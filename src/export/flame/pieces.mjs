// SPDX-License-Identifier: MIT
// pieces.mjs: the block of data that the page has in itself, taken from its elements while the
// browser reads them.
import { inflate } from "./data.mjs";

/* The bytes of a text in base64. */
function bytesOf(text) {
	if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
	const packed = atob(text),
		bytes = new Uint8Array(packed.length);

	for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
	return bytes;
}

/* Waits until the browser has read more of the page. */
const more = () =>
	new Promise((done) => {
		new MutationObserver(done).observe(document.body, { childList: true });
		document.addEventListener("readystatechange", done, { once: true });
	});

/* The compressed bytes of a page's block: of each element that has a piece of them as soon as it
 * is whole, while the browser reads the others; then it is taken out of the page. */
async function* pieces() {
	for (;;) {
		const ended = document.readyState !== "loading",
			piece = document.querySelector(".data");

		if (piece && (ended || piece.nextElementSibling)) {
			yield bytesOf(piece.textContent);
			piece.remove();
		} else if (ended) {
			return;
		} else {
			await more();
		}
	}
}

/* The block of this page. */
export async function unpack() {
	while (!document.querySelector(".data") && document.readyState === "loading") await more();
	return inflate(pieces(), Number(document.querySelector(".data").dataset.bytes));
}
