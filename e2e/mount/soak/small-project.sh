#!/bin/sh
# SPDX-License-Identifier: MPL-2.0
# small-project.sh DIR: creates a C project of thirty parts in a static library, with a configure script that checks the
# compiler. `./sum` prints 465. part7.h, which three files include, holds one of the summands.
set -e
mkdir -p "$1"
cd "$1"
{
  echo '#include <stdio.h>'
  echo '#include "config.h"'
  for i in $(seq 30); do echo "int part$i(void);"; done
  echo 'int main(void) { int sum = 0;'
  for i in $(seq 30); do echo "  sum += part$i();"; done
  printf '%s\n' '  return HAS_STDIO ? printf("%d\n", sum) < 0 : 1; }'
} > main.c
for i in $(seq 30); do
  echo "#define PART$i $i" > "part$i.h"
  { echo "#include \"part$i.h\""; echo "int part$i(void) { return PART$i; }"; } > "part$i.c"
done
for i in 8 9; do sed -i '1i #include "part7.h"' "part$i.c"; done
cat > configure << 'END'
#!/bin/sh
set -e
echo '#include <stdio.h>' > conftest.c
if ${CC:-cc} -c conftest.c; then has=1; else has=0; fi
rm -f conftest.c conftest.o
echo "#define HAS_STDIO $has" > config.h.new
mv config.h.new config.h
sed "s|@CC@|${CC:-cc}|" Makefile.in > Makefile
END
chmod 755 configure
cat > Makefile.in << 'END'
CC = @CC@
PARTS = $(patsubst %.c,%.o,$(wildcard part*.c))
sum: main.o libparts.a
	@$(CC) -o $@ main.o libparts.a
libparts.a: $(PARTS)
	@rm -f $@ && ar rcs $@ $(PARTS)
%.o: %.c
	$(CC) -MMD -O1 -c $< -o $@
clean:
	rm -f sum *.o *.a *.d
.PHONY: clean
-include $(wildcard *.d)
END
