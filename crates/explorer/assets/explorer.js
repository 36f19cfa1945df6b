// Keys and small helps. Each page also works without this file.
"use strict";
