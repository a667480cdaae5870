// SPDX-License-Identifier: MIT
#include "abi/encode.h"
