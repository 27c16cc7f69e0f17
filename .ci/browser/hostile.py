"""The worst that rows, questions, answers and verdicts can hold, as far as the rules of each let it in."""

TEXT = (
    """\
<script>window.__pwned = 1</script><img src=x onerror="window.__pwned = 2"><svg/onload=window.__pwned=3>
</pre></textarea></title></script><iframe srcdoc="<script>parent.__pwned = 4</script>"></iframe>
<a href="javascript:window.__pwned = 5">a link</a> [a link](javascript:window.__pwned=6) javascript:window.__pwned=7
<div x-data x-init="window.__pwned = 8" @click="window.__pwned = 9">${window.__pwned = 10} {{ 7 * 7 }} {% now "Y" %}</div>
" onmouseover="window.__pwned = 11" x=" ' onfocus='window.__pwned = 12' autofocus '
\u202eright to left\u202c \u0645\u0631\u062d\u0628\u0627 \u2067isolated\u2069 \u200b\ufeff \x1b[31mred\x07
"""
    + "unbroken" * 60
)
LINE = TEXT.replace("\n", " ").replace("\x1b", "").replace("\x07", "")
# As the rules of aliases, collections and keys have it, and as long.
ALIAS = "javascript:window.__pwned/-/../..//".ljust(64, "x")
COLLECTION = "c-" + "o" * 30
KEY = "javascript.alert@+-_ " + "W" * 43
SERVED = "say-<script>window.__pwned=13</script><img/src=x/onerror=window.__pwned=14>"
